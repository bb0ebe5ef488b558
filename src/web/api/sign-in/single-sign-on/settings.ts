import type { Role } from '../../../../model/user.ts'
import type { Ask } from '../../../../net/https/requests.ts'

/** Sign-in with an OpenID Connect provider, as configured in `[oidc]`. */
export interface SingleSignOnOptions {
  issuer: string
  clientId: string
  /** '' for a public client. */
  clientSecret: string
  scope: string
  /** Names of the claim, the outer one first and separated by dots; '' = roles are given by hand. */
  rolesClaim: string
  roles: readonly RoleRule[]
  /** Users are found by an address of which the provider does not say whether it verified it. */
  trustEmail: boolean
  /** Refuses passwords and passkeys. */
  only: boolean
  /** Requests to the provider. */
  ask: Ask
  /** Time limit of a request; 10 s by default. */
  timeoutMs?: number
  publicUrl: () => string
}

/** What a value of the claim gives: the operator role, or a role in an organization (ID or name). */
export type RoleRule = { value: string; role: 'operator' } | { value: string; role: Role; organization: string }

/** Path of the redirect URI that is registered at the provider. */
export const CALLBACK_PATH = '/session/oidc/callback'

/** Why a sign-in failed, for the address of the sign-in page, which has a text for each. Texts of the provider are never
 *  shown: anybody can write them into a link. */
export type SignOnFault =
  | 'limited'
  | 'unavailable'
  | 'expired'
  | 'denied'
  | 'invalid'
  | 'no_role'
  | 'no_account'
  | 'no_email'
  | 'unverified'
  | 'other_account'
  | 'disabled'
  | 'last_operator'
  | 'too_many'
