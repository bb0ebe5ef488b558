import { ApiError, get, type Json, type Paged, post } from '../kit/api.ts'
import { Dialog } from '../kit/dialog.tsx'
import { Field, Form, type Values } from '../kit/form.tsx'
import { useLoad } from '../kit/load.ts'
import { ErrorNotice } from '../kit/pieces.tsx'
import { go, href } from '../kit/router.ts'
import { mode } from '../kit/state.ts'
import { toast } from '../kit/toast.tsx'

/** Dialog that sends one message through the API and then opens its page. */
export function NewMessage({ onClose }: { onClose: () => void }) {
  const { data, error, reload } = useLoad((signal) => get<Paged>('/v1/domains', { limit: 100 }, signal), [])
  const domains = data?.data ?? []
  const initial = domains.find(({ status }) => status === 'verified') ?? domains[0]
  const isTest = mode.value === 'test'
  return (
    <Dialog name={isTest ? 'New test message' : 'New message'} onClose={onClose}>
      <ErrorNotice error={error} onRetry={reload} />
      {data && initial === undefined && (
        <p>
          The From address needs a domain of this organization. <a href={href('/domains')}>Add a domain</a> first.
        </p>
      )}
      {initial && (
        <Form action="Send" onSubmit={(values) => send(values, domains)} onCancel={onClose}>
          <Field name="from" label="From">
            {(control) => <input {...control} required defaultValue={`hello@${initial.name}`} />}
          </Field>
          <Field name="to" label="To" hint={isTest ? RESULTS : 'Use your own address for a first test.'}>
            {(control) => <input {...control} type="text" required autocomplete="email" />}
          </Field>
          <Field name="subject" label="Subject">
            {(control) => <input {...control} required defaultValue="Hello" />}
          </Field>
          <Field name="text" label="Text">
            {(control) => <textarea {...control} rows={4} defaultValue="It works." />}
          </Field>
          <details>
            <summary>HTML</summary>
            <Field name="html" label="HTML" hint="If the text is empty, Postrider generates it from the HTML.">
              {(control) => <textarea {...control} class="mono" rows={6} />}
            </Field>
          </details>
        </Form>
      )}
    </Dialog>
  )
}

const RESULTS =
  'The recipient name sets the simulated result: bounce@, softbounce@, defer@, complain@, open@, click@, unsubscribe@ or suppressed@. Any other name counts as delivered.'

const recipientsIn = (written: string) => written.split(',').map((each) => each.trim())

/** Sends as the domain of the From address. Throws ApiError if the organization does not have that domain. */
async function send(values: Values, domains: Json[]): Promise<void> {
  const from = String(values.from).replace(/>\s*$/, '')
  const name = from
    .slice(from.lastIndexOf('@') + 1)
    .trim()
    .toLowerCase()
  const domain = domains.find((each) => each.name === name)
  if (domain === undefined) {
    throw new ApiError(0, 'validation_error', '', { from: `${name} is not a domain of this organization` })
  }
  const body = { ...values, to: recipientsIn(String(values.to)) }
  const { id } = await post('/v1/messages/send', body, { domain: domain.id })
  toast('Message accepted')
  go(`/messages/${id}`)
}
