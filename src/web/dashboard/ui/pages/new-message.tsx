import { ApiError, get, type Json, type Paged, post } from '../kit/api.ts'
import { Dialog } from '../kit/dialog.tsx'
import { Field, Form, type Values } from '../kit/form.tsx'
import { useLoad } from '../kit/load.ts'
import { ErrorNotice, Options } from '../kit/pieces.tsx'
import { go, href, notePage } from '../kit/router.ts'
import { mode } from '../kit/state.ts'
import { toast } from '../kit/toast.tsx'
import { ContentFields } from './new-message/content.tsx'
import { readSample } from './templates/sample.ts'

/** Dialog that sends one message through the API and then opens its page. */
export function NewMessage({ onClose }: { onClose: () => void }) {
  const { data, error, reload } = useLoad((signal) => get<Paged>('/v1/domains', { limit: 100 }, signal), [])
  const domains = data?.data ?? []
  const isTest = mode.value === 'test'
  const initial = domains.find(({ sends_live }) => sends_live) ?? domains[0]
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
            {(control) => (
              <span class="row sender">
                <input {...control} class="grow" required defaultValue="hello" autocomplete="off" />
                <span class="muted">@</span>
                <select name="domain" aria-label="Domain of the sender">
                  <Options of={domains.map(({ name }) => [name, name])} chosen={initial.name} />
                </select>
              </span>
            )}
          </Field>
          <Field name="to" label="To" hint={isTest ? RESULTS : 'Use your own address for a first test.'}>
            {(control) => <input {...control} type="text" required autocomplete="email" />}
          </Field>
          <ContentFields />
        </Form>
      )}
    </Dialog>
  )
}

const RESULTS =
  'The recipient name sets the simulated result: bounce@, softbounce@, defer@, complain@, open@, click@, unsubscribe@ or suppressed@. Any other name counts as delivered.'

const recipientsIn = (written: string) => written.split(',').map((each) => each.trim())

/** Sends as the domain of the From address, which may be written as a whole in the first field: `Shop <hello@shop.example>`.
 *  Throws ApiError if the organization does not have that domain, or if the variables are no JSON object. */
async function send({ domain: chosen, variables, ...values }: Values, domains: Json[]): Promise<void> {
  const from: string = values.from.includes('@') ? values.from : `${values.from}@${chosen}`
  const name = from
    .replace(/>\s*$/, '')
    .slice(from.lastIndexOf('@') + 1)
    .trim()
    .toLowerCase()
  const domain = domains.find((each) => each.name === name)
  const read = readSample(variables ?? '')
  const faults = {
    ...(domain === undefined && { from: `${name} is not a domain of this organization` }),
    ...('fault' in read && { variables: read.fault.message }),
  }
  if (domain === undefined || 'fault' in read) throw new ApiError(0, 'validation_error', '', faults)
  const body = { ...values, ...(variables && { variables: read.sample }), from, to: recipientsIn(String(values.to)) }
  const isStillHere = notePage()
  const { id } = await post('/v1/messages/send', body, { domain: domain.id })
  toast('Message accepted')
  if (isStillHere()) go(`/messages/${id}`)
}
