import { useState } from 'preact/hooks'
import { type Json, post } from '../../kit/api.ts'
import { Chip } from '../../kit/status.tsx'
import { attempt } from '../../kit/toast.tsx'

/** The targets of a forward route: who has confirmed, and a way to ask the others once more. */
export function Targets({ of: route }: { of: Json }) {
  const [asked, setAsked] = useState<Record<string, string>>({})
  const targets: Json[] = route.action.config.to ?? []
  const ask = (email: string) =>
    attempt(async () => {
      const { data } = await post(`/v1/inbound-routes/${route.id}/confirmations`, { email })
      setAsked({ ...asked, [email]: wordsOf(data[0]) })
    })
  if (!targets.some(({ status }) => status === 'pending')) return null
  return (
    <ul class="plain-list stack tight">
      {targets.map(({ email, status, is_stopped }) => (
        <li key={email} class="row apart">
          <span class="break">
            {email} <Chip word={is_stopped ? 'stopped' : status} />
          </span>
          {status === 'pending' && !is_stopped && (
            <span class="row">
              <button type="button" class="tiny" onClick={() => ask(email)}>
                Resend confirmation<span class="hidden"> to {email}</span>
              </button>
              <span class="muted small" aria-live="polite">
                {asked[email]}
              </span>
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}

function wordsOf({ sent, status, reason }: Json): string {
  if (sent) return 'Confirmation sent'
  if (status === 'confirmed') return 'Confirmed'
  return REASONS[reason] ?? 'Not sent'
}

const REASONS: Record<string, string> = {
  too_many: 'Asked often enough today',
  stopped: 'Stopped by its owner',
  suppressed: 'Not sent: the address is suppressed',
}
