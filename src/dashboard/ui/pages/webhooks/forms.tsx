import { type Json, patch, post } from '../../kit/api.ts'
import { confirm, Dialog } from '../../kit/dialog.tsx'
import { Check, Field, Form } from '../../kit/form.tsx'
import { number } from '../../kit/format.ts'
import { toast } from '../../kit/toast.tsx'
import { GraceField } from '../grace-field.tsx'
import { EVENT_TYPES } from './event-types.ts'

interface Asking {
  onClose: () => void
  onMade: (webhook: Json) => void
}

export function CreateWebhook({ onClose, onMade }: Asking) {
  return (
    <Dialog name="Create a webhook" onClose={onClose}>
      <Form
        action="Create webhook"
        onCancel={onClose}
        onSubmit={async (values) => onMade(await post('/v1/webhooks', values))}
      >
        <Fields events={EVENT_TYPES.map(([type]) => type)} />
      </Form>
    </Dialog>
  )
}

export function EditWebhook({ of: webhook, onClose, onMade }: Asking & { of: Json }) {
  return (
    <Dialog name="Change the webhook" onClose={onClose}>
      <Form
        action="Save"
        onCancel={onClose}
        onSubmit={async ({ description = null, ...values }) => {
          onMade(await patch(`/v1/webhooks/${webhook.id}`, { ...values, description }))
        }}
      >
        <Fields {...webhook} />
      </Form>
    </Dialog>
  )
}

function Fields({ url, events, description }: { url?: string; events: string[]; description?: string | null }) {
  return (
    <>
      <Field name="url" label="URL" hint="https, at a public address.">
        {(control) => (
          <input {...control} required type="url" defaultValue={url} placeholder="https://api.example.com/mail" />
        )}
      </Field>
      <fieldset class="stack tight plain-set">
        <legend>Events</legend>
        {EVENT_TYPES.map(([type, words]) => (
          <Check
            key={type}
            name="events"
            value={type}
            isOn={events.includes(type)}
            label={
              <>
                <span class="mono">{type}</span> <span class="muted">{words}</span>
              </>
            }
          />
        ))}
      </fieldset>
      <Field name="description" label="Description">
        {(control) => <input {...control} maxLength={500} defaultValue={description ?? ''} />}
      </Field>
    </>
  )
}

export function RotateSecret({ of: webhook, onClose, onMade }: Asking & { of: Json }) {
  return (
    <Dialog name="New signing secret" onClose={onClose}>
      <p>For a while requests carry the signatures of both, so that no program has to change at that moment.</p>
      <Form
        action="Make a new secret"
        onCancel={onClose}
        onSubmit={async (values) => {
          const minutes = Number(values.grace_period_minutes)
          onMade(await post(`/v1/webhooks/${webhook.id}/rotate-secret`, { grace_period_minutes: minutes }))
        }}
      >
        <GraceField label="The old secret ends" />
      </Form>
    </Dialog>
  )
}

export function SendTest({ of: webhook, onClose, onMade }: Asking & { of: Json }) {
  return (
    <Dialog name="Send a test event" onClose={onClose}>
      <p>
        A made-up event, marked <code>"test": true</code> in its data, whatever the webhook subscribed to.
      </p>
      <Form
        action="Send"
        onCancel={onClose}
        onSubmit={async ({ type }) => onMade(await post(`/v1/webhooks/${webhook.id}/test`, { type }))}
      >
        <EventType />
      </Form>
    </Dialog>
  )
}

export function Replay({ of: webhook, onClose, onMade }: Asking & { of: Json }) {
  return (
    <Dialog name="Send past events again" onClose={onClose}>
      <p>Events of that time go out once more, with the ids that they had: receivers that remember ids lose nothing.</p>
      <Form
        action="Send again"
        onCancel={onClose}
        onSubmit={async ({ from, to, type }) => {
          const range = {
            from: new Date(from).toISOString(),
            ...(to === undefined ? {} : { to: new Date(to).toISOString() }),
            ...(type === undefined ? {} : { type }),
          }
          const isSure = await confirm({
            name: 'Send them all again?',
            text: `${type ?? 'Every event'} from ${new Date(from).toLocaleString()} until ${to ? new Date(to).toLocaleString() : 'now'}, to ${webhook.url}`,
            action: 'Yes, send again',
          })
          if (!isSure) return
          const { queued } = await post(`/v1/webhooks/${webhook.id}/replay`, range)
          toast(`${number(queued)} ${queued === 1 ? 'event goes' : 'events go'} out again`)
          onMade(webhook)
        }}
      >
        <Field name="from" label="From">
          {(control) => <input {...control} required type="datetime-local" />}
        </Field>
        <Field name="to" label="Until" hint="Empty: now.">
          {(control) => <input {...control} type="datetime-local" />}
        </Field>
        <EventType all />
      </Form>
    </Dialog>
  )
}

function EventType({ all = false }: { all?: boolean }) {
  return (
    <Field name="type" label="Event">
      {(control) => (
        <select {...control}>
          {all && <option value="">all</option>}
          {EVENT_TYPES.map(([type]) => (
            <option key={type} value={type}>
              {type}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
