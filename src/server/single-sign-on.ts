import type { Config } from '../config/load.ts'
import type { Ask } from '../net/https/requests.ts'
import type { SingleSignOnOptions } from '../web/api/sign-in/single-sign-on/settings.ts'

/** `[oidc]` → the settings of single sign-on; undefined without a provider. */
export function singleSignOnOptions(
  { oidc }: Pick<Config, 'oidc'>,
  ask: Ask,
  publicUrl: () => string,
): SingleSignOnOptions | undefined {
  const { issuer, clientId, clientSecret, scope, rolesClaim, roles, trustEmail, only } = oidc
  return issuer === null
    ? undefined
    : { issuer, clientId, clientSecret, scope, rolesClaim, roles, trustEmail, only, ask, publicUrl }
}
