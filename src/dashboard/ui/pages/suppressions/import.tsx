import { useState } from 'preact/hooks'
import { ApiError, type Json, post } from '../../kit/api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { Check, Field, Form } from '../../kit/form.tsx'
import { number } from '../../kit/format.ts'

/** A list from a file: our own, or an export of another service. First what would happen, then that. */
export function ImportList({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [result, setResult] = useState<Json>()
  return (
    <Dialog name="Import suppressions" onClose={onClose}>
      <p>
        A CSV file with a column <code>email</code>, or as Resend, Postmark, SendGrid and Mailgun export it. What is
        suppressed already stays as it is.
      </p>
      <Form
        action="Import"
        onCancel={onClose}
        onSubmit={async ({ csv, ...values }) => {
          setResult(undefined)
          const text = await chosenText()
          if (text === '') throw new ApiError(400, 'validation_error', 'Choose a file.', { csv: 'is required' })
          setResult(await post('/v1/suppressions/import', { ...values, csv: text }))
          onDone()
        }}
      >
        <Field name="csv" label="File" hint="At most two million characters; the command line takes any size.">
          {(control) => <input {...control} required type="file" accept=".csv,.txt,.json,text/csv" data-file />}
        </Field>
        <Field name="reason" label="They are" hint="For exports that do not say it.">
          {(control) => (
            <select {...control}>
              <option value="">as the file says</option>
              <option value="hard_bounce">hard bounces</option>
              <option value="complaint">complaints</option>
              <option value="unsubscribe">unsubscriptions</option>
              <option value="manual">a list of our own</option>
            </select>
          )}
        </Field>
        <Check name="dry_run" label="Only count, change nothing" isOn />
      </Form>
      {result && <Result of={result} />}
    </Dialog>
  )
}

async function chosenText(): Promise<string> {
  const file = document.querySelector<HTMLInputElement>('dialog [data-file]')?.files?.[0]
  return file === undefined ? '' : file.text()
}

function Result({ of }: { of: Json }) {
  const { added, already_there, passed_over, bad, dry_run, errors, errors_left_out } = of
  return (
    <div class={`notice ${bad > 0 ? 'warn' : 'good'}`} role="status">
      <p>
        {dry_run ? 'It would add' : 'Added'} {number(added)}; {number(already_there)} there already,{' '}
        {number(passed_over)} passed over, {number(bad)} bad.
      </p>
      {errors.length > 0 && (
        <ul>
          {errors.slice(0, 20).map(({ number: line, message }: Json) => (
            <li key={line} class="break">
              Line {line}: {message}
            </li>
          ))}
        </ul>
      )}
      {errors.length > 20 || errors_left_out > 0 ? (
        <p>and {number(errors.length - Math.min(20, errors.length) + errors_left_out)} more.</p>
      ) : null}
    </div>
  )
}
