import { useState } from 'preact/hooks'
import { type Json, post } from '../../kit/api.ts'
import { Chip } from '../../kit/status.tsx'
import { attempt } from '../../kit/toast.tsx'

/** The targets of a forward route with their status, and a button to resend a confirmation. Nothing if
 *  all are confirmed. */
export function Targets({ of: route }: { of: Json }) {
  const [results, setResults] = useState<Record<string, string>>({})
  const targets: Json[] = route.action.config.to ?? []
  const resend = (email: string) =>
    attempt(async () => {
      const { data } = await post(`/v1/inbound-routes/${route.id}/confirmations`, { email })
      setResults((before) => ({ ...before, [email]: resultText(data[0]) }))
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
              <button type="button" class="tiny" onClick={() => resend(email)}>
                Resend confirmation<span class="hidden"> to {email}</span>
              </button>
              <span class="muted small" aria-live="polite">
                {results[email]}
              </span>
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}

function resultText({ sent, status, reason }: Json): string {
  if (sent) return 'Confirmation sent'
  if (status === 'confirmed') return 'Confirmed'
  return REASONS[reason] ?? 'Not sent'
}

const REASONS: Record<string, string> = {
  too_many: 'Not sent: daily limit of confirmations reached',
  stopped: 'Not sent: stopped by the recipient',
  suppressed: 'Not sent: the address is suppressed',
}
