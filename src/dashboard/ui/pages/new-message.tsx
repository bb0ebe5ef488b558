import { ApiError, get, type Json, type Paged, post } from '../kit/api.ts'
import { Dialog } from '../kit/dialog.tsx'
import { Field, Form, type Values } from '../kit/form.tsx'
import { useLoad } from '../kit/load.ts'
import { Fault } from '../kit/pieces.tsx'
import { go, href } from '../kit/router.ts'
import { mode } from '../kit/state.ts'
import { toast } from '../kit/toast.tsx'

/** One mail written here, to see that everything works: handed in by the same call as a program's, then shown with what
 *  becomes of it. */
export function NewMessage({ onClose }: { onClose: () => void }) {
  const { data, error, reload } = useLoad((signal) => get<Paged>('/v1/domains', { limit: 100 }, signal), [])
  const domains = data?.data ?? []
  const usual = domains.find(({ status }) => status === 'verified') ?? domains[0]
  const isTest = mode.value === 'test'
  return (
    <Dialog name={isTest ? 'New sandbox message' : 'New message'} onClose={onClose}>
      <Fault error={error} onRetry={reload} />
      {data && usual === undefined && (
        <p>
          A message comes from a domain of the organization, and there is none yet:{' '}
          <a href={href('/domains')}>add one</a>.
        </p>
      )}
      {usual && (
        <Form action="Send" onSubmit={(values) => send(values, domains)} onCancel={onClose}>
          <Field name="from" label="From">
            {(control) => <input {...control} required defaultValue={`hello@${usual.name}`} />}
          </Field>
          <Field name="to" label="To" hint={isTest ? OUTCOMES : 'Your own address, for a first try.'}>
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
            <Field name="html" label="HTML" hint="A text that is missing is made from it.">
              {(control) => <textarea {...control} class="mono" rows={6} />}
            </Field>
          </details>
        </Form>
      )}
    </Dialog>
  )
}

const OUTCOMES =
  'Nothing leaves; the name chooses what happens: bounce@, softbounce@, defer@, complain@, open@, click@, any other is delivered.'

const recipientsIn = (written: string) => written.split(',').map((each) => each.trim())

/** As the domain that stands in From. */
async function send(values: Values, domains: Json[]): Promise<void> {
  const name = String(values.from).replace(/>\s*$/, '').split('@').at(-1)!.trim().toLowerCase()
  const domain = domains.find((each) => each.name === name)
  if (domain === undefined) {
    throw new ApiError(0, 'validation_error', '', { from: `${name} is not a domain of this organization` })
  }
  const body = { ...values, to: recipientsIn(String(values.to)) }
  const { id } = await post('/v1/messages/send', body, { domain: domain.id })
  toast('Handed in: this is what becomes of it')
  go(`/messages/${id}`)
}
