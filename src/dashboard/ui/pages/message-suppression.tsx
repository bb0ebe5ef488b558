import { api, type Json, type Paged } from '../kit/api.ts'
import { useLoad } from '../kit/load.ts'
import { may } from '../kit/rights.ts'
import { href } from '../kit/router.ts'
import { attempt } from '../kit/toast.tsx'

/** Suppressions of an address in the mode of a message; at most one page. Throws ApiError. */
async function suppressionsOf(email: string, mode: string, signal?: AbortSignal): Promise<Json[]> {
  const { data } = await api<Paged>('GET', '/v1/suppressions', {
    query: { email },
    headers: { 'x-mode': mode },
    signal,
  })
  return data
}

/** The recipients of a message that are suppressed now, so that resending does not reach them. Asks for the first 50
 *  recipients; those that cannot be asked are left out. */
export async function suppressedOf({ recipients, mode }: Json): Promise<string[]> {
  const asked = recipients.slice(0, 50).map(async ({ email }: Json) => {
    const found = await suppressionsOf(email, mode).catch(() => [])
    return found.length > 0 ? email : null
  })
  return (await Promise.all(asked)).filter((email) => email !== null)
}

/** A link to the suppression of a recipient and a button that removes it; nothing without one. */
export function SuppressionOf({ email, mode }: { email: string; mode: string }) {
  const { data, reload } = useLoad((signal) => suppressionsOf(email, mode, signal), [email, mode])
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
