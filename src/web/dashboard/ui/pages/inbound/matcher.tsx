import { useState } from 'preact/hooks'
import { type Json, post } from '../../kit/api.ts'
import { Field, Form } from '../../kit/form.tsx'

/** Form that shows which of these routes handles mail for an address, and why. Needs at least one route. */
export function Matcher({ routes }: { routes: readonly Json[] }) {
  const about = JSON.stringify(routes)
  const [answer, setAnswer] = useState<Json>()
  const result = answer?.about === about ? answer.result : undefined
  return (
    <section class="card stack">
      <h2>Test an address</h2>
      <Form
        action="Test address"
        onSubmit={async ({ to }) => {
          setAnswer(undefined)
          const { id } = routes.find(({ enabled }) => enabled) ?? routes[0]
          setAnswer({ about, result: await post(`/v1/inbound-routes/${id}/test`, { to }) })
        }}
      >
        <Field name="to" label="Address" hint="A recipient address. Postrider sends nothing.">
          {(control) => <input {...control} required type="email" autoComplete="off" placeholder="help@example.com" />}
        </Field>
      </Form>
      {result && (
        <div class={`notice ${result.taken_by === null ? 'warn' : 'good'} stack tight`} role="status">
          <strong>{result.taken_by === null ? 'No route' : result.taken_by.name}</strong>
          <span class="break">{result.reason}</span>
          {result.considered.length > 1 && (
            <ul class="plain-list small">
              {result.considered.map(({ id, name, reason }: Json) => (
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
