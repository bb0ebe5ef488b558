import { useState } from 'preact/hooks'
import { EVENT_FACTS, EVENT_TYPES, type EventType, STANDARD_EVENT_TYPES } from '../../../../../model/event-types.ts'
import { type Json, patch, post } from '../../kit/api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { Check, Field, Form, type Values } from '../../kit/form.tsx'
import { number, when } from '../../kit/format.ts'
import { Options } from '../../kit/pieces.tsx'
import { toast } from '../../kit/toast.tsx'
import { GraceField } from '../grace-field.tsx'
import { HeadersField, takeHeaders } from '../headers-field.tsx'

interface WebhookForm {
  onClose: () => void
  onSaved: (webhook: Json) => void
}

/** Dialog for a new webhook; `onSaved` gets the webhook with its signing secret. */
export function CreateWebhook({ onClose, onSaved }: WebhookForm) {
  return (
    <Dialog name="Create webhook" onClose={onClose}>
      <Form
        action="Create webhook"
        onCancel={onClose}
        onSubmit={async (values) => {
          const { rest, given } = takeHeaders('headers', values)
          onSaved(await post('/v1/webhooks', { ...rest, ...given }))
        }}
      >
        <Fields events={STANDARD_EVENT_TYPES} />
      </Form>
    </Dialog>
  )
}

/** Dialog for a stored webhook; `onSaved` gets it with the changes. */
export function EditWebhook({ of: webhook, onClose, onSaved }: WebhookForm & { of: Json }) {
  return (
    <Dialog name="Edit webhook" onClose={onClose}>
      <Form
        action="Save"
        onCancel={onClose}
        onSubmit={async ({ description = null, ...values }) => {
          const { rest, given } = takeHeaders('headers', values)
          onSaved(await patch(`/v1/webhooks/${webhook.id}`, { ...rest, ...given, description }))
        }}
      >
        <Fields {...webhook} />
      </Form>
    </Dialog>
  )
}

function Fields({
  url,
  events,
  description,
  header_names: stored,
}: {
  url?: string
  events: readonly string[]
  description?: string | null
  header_names?: string[]
}) {
  return (
    <>
      <Field name="url" label="URL" hint="An https URL at a public address.">
        {(control) => (
          <input {...control} required type="url" defaultValue={url} placeholder="https://api.example.com/mail" />
        )}
      </Field>
      <EventChecks name="Events" types={STANDARD_EVENT_TYPES} events={events} />
      <EventChecks name="More events" types={MORE_EVENT_TYPES} events={events} />
      <Field name="description" label="Description">
        {(control) => <input {...control} maxLength={500} defaultValue={description ?? ''} />}
      </Field>
      <HeadersField name="headers" stored={stored} />
    </>
  )
}

const MORE_EVENT_TYPES = EVENT_TYPES.filter((type) => EVENT_FACTS[type].sent !== 'default')

/** One group of event types; those in `events` are on. */
function EventChecks({
  name,
  types,
  events,
}: {
  name: string
  types: readonly EventType[]
  events: readonly string[]
}) {
  return (
    <fieldset class="stack tight plain-set">
      <legend>{name}</legend>
      {types.map((type) => (
        <Check
          key={type}
          name="events"
          value={type}
          isOn={events.includes(type)}
          label={
            <>
              <span class="mono">{type}</span> <span class="muted">{EVENT_FACTS[type].title}</span>
            </>
          }
        />
      ))}
    </fieldset>
  )
}

/** Dialog that replaces a signing secret; `onSaved` gets the webhook with the new one. */
export function RotateSecret({ of: webhook, onClose, onSaved }: WebhookForm & { of: Json }) {
  return (
    <Dialog name="Rotate signing secret" onClose={onClose}>
      <p>Postrider signs requests with both secrets until the old one expires. Update your app before then.</p>
      <Form
        action="Rotate secret"
        onCancel={onClose}
        onSubmit={async (values) => {
          const minutes = Number(values.grace_period_minutes)
          onSaved(await post(`/v1/webhooks/${webhook.id}/rotate-secret`, { grace_period_minutes: minutes }))
        }}
      >
        <GraceField label="Old secret expires" />
      </Form>
    </Dialog>
  )
}

/** Dialog that sends a sample event; `onSaved` gets the event. */
export function SendTest({ of: webhook, onClose, onSaved }: WebhookForm & { of: Json }) {
  return (
    <Dialog name="Send test event" onClose={onClose}>
      <p>
        Sends a sample event with <code>"test": true</code> in its data, even if the webhook does not subscribe to its
        type.
      </p>
      <Form
        action="Send"
        onCancel={onClose}
        onSubmit={async ({ type }) => onSaved(await post(`/v1/webhooks/${webhook.id}/test`, { type }))}
      >
        <EventTypeField />
      </Form>
    </Dialog>
  )
}

/** Dialog that resends the events of a period; the second press of its button confirms it. `onSaved` gets the webhook. */
export function Replay({ of: webhook, onClose, onSaved }: WebhookForm & { of: Json }) {
  const [asked, setAsked] = useState('')
  const submit = async ({ from, to, type }: Values) => {
    const range = {
      from: new Date(from).toISOString(),
      ...(to === undefined ? {} : { to: new Date(to).toISOString() }),
      ...(type === undefined ? {} : { type }),
    }
    const text = `${type ?? 'Every event'} from ${when(range.from)} until ${when(range.to) || 'now'} goes to ${webhook.url} again.`
    if (asked !== text) return setAsked(text)
    const { queued } = await post(`/v1/webhooks/${webhook.id}/replay`, range)
    toast(`${number(queued)} ${queued === 1 ? 'event' : 'events'} queued`)
    onSaved(webhook)
  }
  return (
    <Dialog name="Replay events" onClose={onClose}>
      <p>
        Resends the events of this period with their original IDs, so endpoints that deduplicate by ID ignore repeats.
      </p>
      <div class="stack" onChange={() => setAsked('')}>
        <Form action={asked === '' ? 'Replay' : 'Replay now'} onCancel={onClose} onSubmit={submit}>
          <Field name="from" label="From">
            {(control) => <input {...control} required type="datetime-local" defaultValue={aDayAgo()} />}
          </Field>
          <Field name="to" label="Until" hint="Leave empty to replay up to the current time.">
            {(control) => <input {...control} type="datetime-local" />}
          </Field>
          <EventTypeField all />
          {asked !== '' && (
            <p class="notice warn break" role="status">
              {asked}
            </p>
          )}
        </Form>
      </div>
    </Dialog>
  )
}

/** Local time of 24 hours ago, in the form of a datetime-local field. */
function aDayAgo(): string {
  const at = new Date(Date.now() - 86_400_000)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

function EventTypeField({ all = false }: { all?: boolean }) {
  return (
    <Field name="type" label="Event">
      {(control) => (
        <select {...control}>
          {all && <option value="">All events</option>}
          <Options of={EVENT_TYPES.map((type) => [type, type])} />
        </select>
      )}
    </Field>
  )
}
