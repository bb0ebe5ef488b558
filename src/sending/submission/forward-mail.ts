import type { ForwardLinks, ForwardTarget } from '../../mail/forward-link.ts'
import type { RecipientPartsOf } from '../../mail/recipient-parts.ts'
import { INSTALLATION } from '../../model/organization.ts'

/** Stand in the stored text of a confirmation for the paths of its links, which nobody can derive from what is stored
 *  without the secret. */
export const CONFIRM_LINK = '[confirm-link]'
export const STOP_LINK = '[stop-link]'

/** Metadata of the mail that carries the links. */
export function forwardMetadata({ routeId, organizationId, email }: ForwardTarget, expiresAt: number) {
  return { forward: JSON.stringify([routeId, organizationId, email, expiresAt]) }
}

/** RecipientPartsOf → the same, with the links for confirmations, which are mail of the installation. */
export function withForwardLinks(partsOf: RecipientPartsOf, links: ForwardLinks): RecipientPartsOf {
  return (deliveryId, message, sender) => {
    const parts = partsOf(deliveryId, message, sender)
    const { forward } = message.metadata
    // Metadata of other organizations is their own.
    if (message.organizationId !== INSTALLATION || typeof forward !== 'string') return parts
    const [routeId, organizationId, email, expiresAt] = JSON.parse(forward)
    const target = { routeId, organizationId, email }
    return { ...parts, secrets: { [CONFIRM_LINK]: links.confirm(target, expiresAt), [STOP_LINK]: links.stop(target) } }
  }
}
