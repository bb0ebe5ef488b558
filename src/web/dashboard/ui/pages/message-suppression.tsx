import { countsFor } from '../../../../model/suppression-streams.ts'
import { api, type Json, type Paged } from '../kit/api.ts'
import { useLoad } from '../kit/load.ts'
import { may } from '../kit/rights.ts'
import { href } from '../kit/router.ts'
import { attempt } from '../kit/toast.tsx'

/** Suppressions of an address that apply to the mode and the stream of a message; at most one page. Throws ApiError. */
async function suppressionsOf(email: string, { mode, stream }: Json, signal?: AbortSignal): Promise<Json[]> {
  const { data } = await api<Paged>('GET', '/v1/suppressions', {
    query: { email },
    headers: { 'x-mode': mode },
    signal,
  })
  return data.filter(({ stream: named, reason }) => countsFor({ stream: named, reason }, stream))
}

/** The recipients of a message that are suppressed now, so that resending does not reach them. Asks for the first 50
 *  recipients; those that cannot be asked are left out. */
export async function suppressedOf(message: Json): Promise<string[]> {
  const asked = message.recipients.slice(0, 50).map(async ({ email }: Json) => {
    const found = await suppressionsOf(email, message).catch(() => [])
    return found.length > 0 ? email : null
  })
  return (await Promise.all(asked)).filter((email) => email !== null)
}

/** A link to the suppression of a recipient and a button that removes it; nothing without one. */
export function SuppressionOf({ email, message }: { email: string; message: Json }) {
  const { id, mode } = message
  const { data, reload } = useLoad((signal) => suppressionsOf(email, message, signal), [email, id])
  if (data === undefined) return <div class="row suppression" />
  const [suppression] = data
  if (suppression === undefined) return null
  const drop = async () => {
    const work = () => api('DELETE', `/v1/suppressions/${suppression.id}`, { headers: { 'x-mode': mode } })
    if (await attempt(work, `Suppression of ${email} removed`)) reload()
  }
  return (
    <div class="row suppression">
      <a href={href('/suppressions', { email })}>View suppression</a>
      {may('suppressions_delete') && (
        <button type="button" class="tiny" onClick={drop}>
          Remove suppression
        </button>
      )}
    </div>
  )
}
