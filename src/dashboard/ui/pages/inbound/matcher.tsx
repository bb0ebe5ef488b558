import { useState } from 'preact/hooks'
import { type Json, post } from '../../kit/api.ts'
import { Field, Form } from '../../kit/form.tsx'

/** Paste an address: which route would take its mail, and why. */
export function Matcher({ routes }: { routes: readonly Json[] }) {
  const [answer, setAnswer] = useState<Json>()
  return (
    <section class="card stack">
      <h2>Test an address</h2>
      <Form
        action="Test address"
        onSubmit={async ({ to }) => {
          setAnswer(undefined)
          setAnswer(
            await post(`/v1/inbound-routes/${(routes.find(({ enabled }) => enabled) ?? routes[0]).id}/test`, { to }),
          )
        }}
      >
        <Field name="to" label="Address" hint="A recipient address. Postrider sends nothing.">
          {(control) => <input {...control} required type="email" autoComplete="off" placeholder="help@example.com" />}
        </Field>
      </Form>
      {answer && (
        <div class={`notice ${answer.taken_by === null ? 'warn' : 'good'} stack tight`} role="status">
          <strong>{answer.taken_by === null ? 'No route' : answer.taken_by.name}</strong>
          <span class="break">{answer.reason}</span>
          {answer.considered.length > 1 && (
            <ul class="plain-list small">
              {answer.considered.map(({ id, name, reason }: Json) => (
                <li key={id} class="break">
                  {name}: {reason}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </section>
  )
}
