import type { Role } from './user.ts'

/** Who may join an organization, by a link that works once. Its token is stored as a hash. */
export interface Invitation {
  /** `inv_…` */
  id: string
  organizationId: string
  /** Folded (user.ts). One invitation per address and organization. */
  email: string
  role: Role
  /** ID of the user or API key that invited; `operator` for the operator. It must still be able to invite when the
   *  invitation is accepted. */
  invitedBy: string
  createdAt: number
  expiresAt: number
}

/** Lifetime of an invitation: seven days. */
export const INVITATION_MS = 7 * 86_400_000
/** Maximum number of invitations per organization. */
export const MAX_INVITATIONS = 200
