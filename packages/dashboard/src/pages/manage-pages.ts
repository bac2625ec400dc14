/** The pages of keys, environments and settings, as one file to load. */

export { EnvironmentsPage } from "../environments/environments-page.tsx";
export { KeysPage } from "../keys/keys-page.tsx";
export { AuditLogPage } from "../settings/audit-log-page.tsx";
export { SettingsPage } from "../settings/settings-page.tsx";
export { SignInPage } from "../sign-in/sign-in-page.tsx";
