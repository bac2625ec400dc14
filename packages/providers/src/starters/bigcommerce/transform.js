// BigCommerce: notifications that orders, products or customers of a store changed, without their content, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `bigcommerce/${evt.scope.replace(/^store\//, "").replaceAll("/", ".")}`,
    id: evt.hash,
    ts: evt.created_at * 1000,
    data: { payload: evt },
  };
}
