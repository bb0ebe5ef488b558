import { NO_RECIPIENT_PARTS } from '../../mail/recipient-parts.ts'
import { ANY_MESSAGE } from '../../model/message.ts'
import { messageOf } from '../../os/thrown.ts'
import { createPreparer } from '../../sending/outbound/prepare.ts'
import { domainKeys } from '../../sending/submission/signing.ts'
import { unpackReference } from '../../storage/objects/reference.ts'
import type { Store } from '../../storage/store.ts'
import { CommandFailure } from '../failure.ts'

/** Messages per organization. */
const MAILS = 5
const ORGANIZATIONS = 20

/** Composes and signs the newest messages of a store again and returns their number: at most 5 messages of each of 20
 *  organizations. Leaves out those whose content is in object storage. Throws CommandFailure if composing one fails. */
export async function composeSample(store: Store): Promise<number> {
  const { prepareNow } = createPreparer()
  let composed = 0
  for (const { id: organizationId } of (await store.organizations.list()).slice(0, ORGANIZATIONS)) {
    const { records } = await store.messages.list({ ...ANY_MESSAGE, organizationId }, { limit: MAILS, after: null })
    for (const message of records) {
      const content = await store.messages.content(message.id)
      if (content === null || unpackReference(content) !== null) continue
      const domain = await store.domains.get(message.domainId)
      const signingKeys = domain === null ? [] : domainKeys(domain)
      try {
        prepareNow({ content, signingKeys, signedAt: message.createdAt, recipientParts: NO_RECIPIENT_PARTS })
      } catch (error) {
        throw new CommandFailure(`cannot compose message ${message.id} from the backup: ${messageOf(error)}`)
      }
      composed++
    }
  }
  return composed
}
