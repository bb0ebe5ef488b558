import { api, type Json, post } from '../../kit/api.ts'
import { confirm } from '../../kit/dialog.tsx'
import { may } from '../../kit/rights.ts'
import { attempt, toast } from '../../kit/toast.tsx'

/** True for the hash that stands in place of an erased address. */
export const isErased = (email: string) => /^[0-9a-f]{64}@erased\.invalid$/.test(email)
/** An address, or the beginning of the hash of an erased one. */
export const shownAddress = (email: string) => (isErased(email) ? `Erased recipient ${email.slice(0, 8)}` : email)

/** Removes a suppression after a question that fits its reason; the notice can undo it. `onChanged` is called after the
 *  removal, and after it is undone. */
export async function removeSuppression(suppression: Json, onChanged: () => void): Promise<void> {
  const { id, email, reason, domain_id, stream, mode } = suppression
  const isSure = await confirm({
    name: `Remove the suppression of ${shownAddress(email)}?`,
    text: ADVICE[reason] ?? 'Postrider will send to this address again.',
    action: 'Remove suppression',
    isDangerous: reason !== 'manual',
  })
  const headers = { 'x-mode': mode }
  if (!isSure || !(await attempt(() => api('DELETE', `/v1/suppressions/${id}`, { headers })))) return
  onChanged()
  const restore = async () => {
    const body = { email, reason, domain_id, ...(stream !== null && { stream }) }
    const work = () => post('/v1/suppressions', body, { headers })
    if (await attempt(work, `${email} suppressed again`)) onChanged()
  }
  const isUndoable = may('suppressions_create') && !isErased(email)
  toast(`Suppression of ${shownAddress(email)} removed`, isUndoable ? restore : undefined)
}

const ADVICE: Record<string, string> = {
  hard_bounce:
    'The mail server reported that this mailbox does not exist. The next message will probably bounce too, which harms your reputation.',
  complaint: 'The recipient marked a message as spam. Send again only if they ask for it.',
  unsubscribe: 'The recipient unsubscribed. Send again only if they ask for it.',
}
