import { useId, useRef, useState } from 'preact/hooks'
import { Icon } from '../../dashboard/ui/kit/icon.tsx'
import { Code } from './code.tsx'
import type { Operation, Parameter } from './document.ts'
import { KeyField } from './key-field.tsx'
import { withSender } from './own-domain.ts'
import { typeOf } from './schema.ts'
import { keyDomain, testKey } from './state.ts'
import { fieldsOf, requestOf } from './try-request.ts'
import { readResponse, type Shown } from './try-response.ts'

/** A form that calls the operation with the test key. It sends nothing before the button is pressed, to this server
 *  only, and without cookies. The example is sent from the key's domain. */
export function TryIt({ operation }: { operation: Operation }) {
  const [faults, setFaults] = useState<Record<string, string>>({})
  const [answer, setAnswer] = useState<Shown | null>(null)
  const [problem, setProblem] = useState('')
  const [running, setRunning] = useState<AbortController | null>(null)
  const form = useRef<HTMLFormElement>(null)
  const fields = fieldsOf(operation)
  const key = testKey.value

  const submit = async (event: Event) => {
    event.preventDefault()
    if (form.current === null || running !== null) return
    setProblem('')
    setAnswer(null)
    if (key === null) {
      form.current.parentElement?.querySelector<HTMLElement>('[data-key]')?.focus()
      return setProblem('Enter a test key first.')
    }
    const { body = '', ...values } = Object.fromEntries(new FormData(form.current)) as Record<string, string>
    const { request, faults: found } = requestOf(operation, { values: withoutPrefix(values), body, key })
    setFaults(found ?? {})
    if (request === null) {
      form.current.querySelector<HTMLElement>(`[data-field="${Object.keys(found)[0]}"]`)?.focus()
      return
    }
    const stop = new AbortController()
    setRunning(stop)
    try {
      setAnswer(await send(request, stop.signal, setAnswer))
    } catch {
      setProblem(stop.signal.aborted ? 'Stopped before the response.' : NO_RESPONSE)
    } finally {
      setRunning(null)
    }
  }
  return (
    <section class="card stack try" aria-labelledby="try-it">
      <h2 id="try-it">Try it</h2>
      <KeyField />
      {refusesTestKeys(operation) && <p class="notice warn">{refusesTestKeys(operation)}</p>}
      <form class="stack" ref={form} onSubmit={submit} noValidate>
        {fields.length > 0 && (
          <div class="try-fields">
            {fields.map((field) => (
              <ParameterField key={field.name} of={field} fault={faults[field.name]} />
            ))}
          </div>
        )}
        {operation.body !== null && (
          <BodyField example={withSender(operation.body.example, keyDomain.value)} fault={faults.body} />
        )}
        <div class="row">
          <button type="submit" class="primary" disabled={running !== null}>
            <Icon name="send" />
            Send
          </button>
          {running !== null && (
            <button type="button" onClick={() => running.abort()}>
              Stop
            </button>
          )}
          <span class="muted small break">
            {operation.method} on {window.location.host}
          </span>
        </div>
      </form>
      <div class="stack" aria-live="polite">
        {problem !== '' && <p class="notice bad">{problem}</p>}
        {answer !== null && <Answer of={answer} />}
      </div>
    </section>
  )
}

const NO_RESPONSE = 'The server did not respond. Check your connection and that the server runs, then send again.'

/** Why the request will be refused; null if a test key may call the operation. */
function refusesTestKeys({ permission, description }: Operation): string | null {
  if (permission === 'operator') return 'Keys cannot call this operation. The server will answer 403.'
  return description.includes('Test keys get 403.')
    ? 'Test keys cannot call this operation. The server will answer 403.'
    : null
}

/** Names of parameters begin with this in the form, since one could be called `body`. */
const PREFIX = 'parameter '
const withoutPrefix = (values: Record<string, string>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name.replace(PREFIX, ''), value.trim()]))

async function send(
  { path, ...init }: NonNullable<ReturnType<typeof requestOf>['request']>,
  signal: AbortSignal,
  onPart: (shown: Shown) => void,
): Promise<Shown> {
  const startedAt = performance.now()
  // The origin of this page: neither a cookie nor a redirect can make it another request.
  const url = new URL(path, window.location.origin)
  const response = await fetch(url, { ...init, signal, credentials: 'omit', redirect: 'error', cache: 'no-store' })
  return readResponse(response, { elapsedMs: () => performance.now() - startedAt, signal, onPart })
}

function ParameterField({
  of: { name, required = false, example, schema },
  fault,
}: {
  of: Parameter
  fault: string | undefined
}) {
  const id = useId()
  const control = {
    id,
    name: PREFIX + name,
    'data-field': name,
    'aria-invalid': fault !== undefined,
    'aria-describedby': fault === undefined ? undefined : `${id}-fault`,
  }
  return (
    <div class="field">
      <label for={id}>
        <code>{name}</code> {required && <span class="required small">required</span>}
      </label>
      {schema.enum !== undefined ? (
        <select {...control}>
          <option value="">Any</option>
          {schema.enum.map((value) => (
            <option key={String(value)} value={String(value)}>
              {String(value)}
            </option>
          ))}
        </select>
      ) : (
        <input {...control} autoComplete="off" spellcheck={false} placeholder={String(example ?? typeOf(schema))} />
      )}
      {fault !== undefined && (
        <span class="fault" id={`${id}-fault`}>
          {fault}
        </span>
      )}
    </div>
  )
}

function BodyField({ example, fault }: { example: unknown; fault: string | undefined }) {
  const id = useId()
  const [typed, setTyped] = useState<string | null>(null)
  const text = typed ?? (example === undefined ? '' : JSON.stringify(example, null, 2))
  return (
    <div class="field">
      <label for={id}>Body</label>
      <textarea
        id={id}
        name="body"
        class="mono"
        data-field="body"
        rows={Math.min(18, Math.max(3, text.split('\n').length))}
        spellcheck={false}
        value={text}
        onInput={(event) => setTyped(event.currentTarget.value)}
        aria-invalid={fault !== undefined}
        aria-describedby={fault === undefined ? undefined : `${id}-fault`}
      />
      {fault !== undefined && (
        <span class="fault" id={`${id}-fault`}>
          {fault}
        </span>
      )}
    </div>
  )
}

function Answer({ of: { status, tookMs, headers, text, sizeBytes, type, isCut, problems } }: { of: Shown }) {
  const isGood = status < 400
  return (
    <section class="stack tight answer" aria-label="Response">
      <p class="row">
        <span class={`chip ${isGood ? 'good' : 'bad'}`} data-mark={isGood ? '✓' : '✕'}>
          {status}
        </span>
        <span class="muted small num">
          {tookMs} ms, {sizeBytes.toLocaleString('en')} bytes of {type === '' ? 'nothing' : type}
        </span>
      </p>
      {problems.length > 0 && (
        <div class="notice bad">
          {problems.map((problem) => (
            <p key={problem} class="break">
              {problem}
            </p>
          ))}
        </div>
      )}
      {headers.length > 0 && (
        <dl class="headers small">
          {headers.map(([name, value]) => (
            <div key={name}>
              <dt class="muted">{name}</dt>
              <dd class="mono">{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {text === null ? (
        <p class="muted small">The body is not text. The example above saves it in a file.</p>
      ) : (
        text !== '' && (
          <Code
            text={text}
            copied={text}
            language={type.endsWith('json') && !isCut ? 'json' : 'plain'}
            label="Response body"
            caption={type}
          />
        )
      )}
      {isCut && <p class="muted small">The response has more.</p>}
    </section>
  )
}
