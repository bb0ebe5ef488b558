import { useRef, useState } from 'preact/hooks'
import { ApiError, type Json, post } from '../../kit/api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { Field, Form, type Values } from '../../kit/form.tsx'
import { number } from '../../kit/format.ts'

/** Dialog that imports suppressions from a file in two steps: a preview, which changes nothing, then the import. */
export function ImportList({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [result, setResult] = useState<Json>()
  const previewed = result?.dry_run && result.added > 0 ? addresses(result.added) : null
  /** Counts the requests and the changes of the form: a preview is of the form as it was. */
  const round = useRef(0)
  const submit = async (values: Values) => {
    const body = { reason: values.reason, stream: values.stream, csv: await chosenText(), dry_run: previewed === null }
    setResult(undefined)
    if (body.csv === '') throw new ApiError(400, 'validation_error', 'Choose a file.', { csv: 'Choose a file.' })
    const asked = ++round.current
    const answer = await post('/v1/suppressions/import', body)
    if (!body.dry_run || asked === round.current) setResult(answer)
    if (!body.dry_run) onDone()
  }
  return (
    <Dialog name="Import suppressions" onClose={onClose}>
      <p>
        Choose a CSV file with an <code>email</code> column, or an export from Resend, Postmark, SendGrid, Mailgun, SES
        or Postal. Existing suppressions do not change.
      </p>
      <div
        onChange={() => {
          round.current++
          setResult(undefined)
        }}
      >
        <Form action={previewed === null ? 'Preview' : `Import ${previewed}`} onCancel={onClose} onSubmit={submit}>
          <Field
            name="csv"
            label="File"
            hint="At most two million characters. The command line imports files of any size."
          >
            {(control) => <input {...control} required type="file" accept=".csv,.txt,.json,text/csv" data-file />}
          </Field>
          <Field name="reason" label="Reason" hint="For files that do not state one.">
            {(control) => (
              <select {...control}>
                <option value="">As in the file</option>
                <option value="hard_bounce">Hard bounce</option>
                <option value="complaint">Complaint</option>
                <option value="unsubscribe">Unsubscribe</option>
                <option value="manual">Manual</option>
              </select>
            )}
          </Field>
          <Field
            name="stream"
            label="Stream"
            hint="Of entries that name none, except hard bounces. Empty: every stream."
          >
            {(control) => <input {...control} type="text" autoComplete="off" />}
          </Field>
        </Form>
      </div>
      {result && <Result of={result} />}
    </Dialog>
  )
}

const addresses = (count: number) => `${number(count)} ${count === 1 ? 'address' : 'addresses'}`

async function chosenText(): Promise<string> {
  const file = document.querySelector<HTMLInputElement>('dialog [data-file]')?.files?.[0]
  return file === undefined ? '' : file.text()
}

function Result({ of }: { of: Json }) {
  const { added, already_there, passed_over, bad, dry_run, errors, errors_left_out } = of
  const shown = errors.slice(0, 20)
  const hidden = errors.length - shown.length + errors_left_out
  return (
    <div class={`notice ${bad > 0 ? 'warn' : 'good'}`} role="status">
      <p>
        {dry_run ? `Preview: ${addresses(added)} to import` : `Imported ${addresses(added)}`}, {number(already_there)}{' '}
        already suppressed, {number(passed_over)} skipped, {number(bad)} invalid.
      </p>
      {shown.length > 0 && (
        <ul>
          {shown.map(({ number: line, message }: Json) => (
            <li key={line} class="break">
              Line {line}: {message}
            </li>
          ))}
        </ul>
      )}
      {hidden > 0 && <p>{number(hidden)} more lines not shown.</p>}
    </div>
  )
}
