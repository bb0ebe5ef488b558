import { useState } from 'preact/hooks'
import { get, type Json, type Paged, remove } from '../../kit/api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { Field, Form } from '../../kit/form.tsx'
import { number } from '../../kit/format.ts'
import { useLoad } from '../../kit/load.ts'
import { Pending } from '../../kit/pieces.tsx'
import { go, notePage } from '../../kit/router.ts'
import { toast } from '../../kit/toast.tsx'

/** The button that deletes a domain, and its question. */
export function DeleteDomain({ domain }: { domain: Json }) {
  const [isAsking, setAsking] = useState(false)
  return (
    <div class="row">
      <button type="button" class="danger" onClick={() => setAsking(true)}>
        Delete domain
      </button>
      {isAsking && <Question domain={domain} onClose={() => setAsking(false)} />}
    </div>
  )
}

/** Says which keys and how much mail depend on the domain. If there is any, the user types its name first. */
function Question({ domain: { id, name }, onClose }: { domain: Json; onClose: () => void }) {
  const { data, error } = useLoad((signal) => usesOf(id, signal), [id])
  const drop = async () => {
    const isStillHere = notePage()
    await remove(`/v1/domains/${id}`)
    toast(`${name} deleted`)
    if (isStillHere()) go('/domains')
  }
  // Without an answer the domain counts as used.
  const isUsed = data === undefined || data.keys > 0 || data.messages > 0
  return (
    <Dialog name={`Delete ${name}?`} onClose={onClose}>
      {(data ?? error) === undefined ? (
        <Pending error={undefined} onRetry={onClose} />
      ) : (
        <>
          <p>
            {data !== undefined && isUsed && <strong>{textOf(data)} </strong>}
            Its API keys stop working immediately and its DKIM keys are deleted. To send from it again, add it and
            publish new records.
          </p>
          <Form action="Delete domain" isDangerous onSubmit={drop} onCancel={onClose}>
            {isUsed && (
              <Field name="confirmed" label={`Type ${name} to delete it`}>
                {(control) => (
                  <input
                    {...control}
                    required
                    pattern={name.replaceAll('.', '\\.')}
                    title={name}
                    autoComplete="off"
                    autoCapitalize="off"
                    spellcheck={false}
                  />
                )}
              </Field>
            )}
          </Form>
        </>
      )}
    </Dialog>
  )
}

interface Uses {
  keys: number
  /** Live messages in 30 days. */
  messages: number
}

/** Default range of /v1/stats. */
const DAYS = 30
const MOST_KEYS = 100

async function usesOf(id: string, signal: AbortSignal): Promise<Uses> {
  const [keys, stats] = await Promise.all([
    get<Paged>('/v1/api-keys', { limit: MOST_KEYS }, signal),
    get('/v1/stats', { domain_id: id, mode: 'live' }, signal),
  ])
  const working = keys.data.filter((key: Json) => key.domain_id === id && key.revoked_at === null)
  return { keys: working.length, messages: stats.totals.accepted }
}

/** `2 API keys use it, and it sent 3,747 messages in 30 days.` */
function textOf({ keys, messages }: Uses): string {
  const ofKeys = keys === 1 ? '1 API key uses it' : `${number(keys)} API keys use it`
  const ofMail = `it sent ${number(messages)} ${messages === 1 ? 'message' : 'messages'} in ${DAYS} days`
  const parts = [keys > 0 && ofKeys, messages > 0 && ofMail].filter(Boolean).join(', and ')
  return `${parts.charAt(0).toUpperCase()}${parts.slice(1)}.`
}
