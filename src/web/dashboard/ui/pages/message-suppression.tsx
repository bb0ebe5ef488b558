import { countsFor } from '../../../../model/suppression-streams.ts'
import { api, type Json, type Paged } from '../kit/api.ts'
import { useLoad } from '../kit/load.ts'
import { may } from '../kit/rights.ts'
import { href } from '../kit/router.ts'
import { removeSuppression } from './suppressions/remove.tsx'

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

/** A link to the suppression of a recipient and a button that removes it, after a question; nothing without one. */
export function SuppressionOf({ email, message, onChanged }: { email: string; message: Json; onChanged: () => void }) {
  const { data, reload } = useLoad((signal) => suppressionsOf(email, message, signal), [email, message.id])
  const [suppression] = data ?? []
  if (suppression === undefined) return null
  const changed = () => {
    reload()
    onChanged()
  }
  return (
    <>
      {may('suppressions_delete') && (
        <button type="button" class="tiny" onClick={() => removeSuppression(suppression, changed)}>
          Remove suppression…
        </button>
      )}
      <a href={href('/suppressions', { email })}>View suppression</a>
    </>
  )
}
