/** The link to the page of an approval. Its last part is the token: whoever has it decides. */

export const APPROVAL_PATH = "/approve";

export function approvalUrl(baseUrl: string, id: string, token: string): string {
  return `${baseUrl}${APPROVAL_PATH}/${id}/${token}`;
}

/** The same without its token, for those who may not decide. */
export function maskedApprovalUrl(baseUrl: string, id: string): string {
  return approvalUrl(baseUrl, id, "…");
}
