import { useState } from 'preact/hooks'
import { type Json, patch, post } from '../../kit/api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { Check, Field, Form, type Values } from '../../kit/form.tsx'
import { Options } from '../../kit/pieces.tsx'
import { HeadersField, takeHeaders } from '../headers-field.tsx'
import { Targets } from './targets.tsx'

interface RouteForm {
  onClose: () => void
  onSaved: (route: Json) => void
}

/** Dialog for a new inbound route; `onSaved` gets the route with its signing secret. */
export function CreateRoute({ onClose, onSaved }: RouteForm) {
  return (
    <Dialog name="Create route" onClose={onClose}>
      <Form
        action="Create route"
        onCancel={onClose}
        onSubmit={async (values) => onSaved(await post('/v1/inbound-routes', routeOf(values)))}
      >
        <Fields />
      </Form>
    </Dialog>
  )
}

/** Dialog for a stored inbound route; `onSaved` gets it with the changes. */
export function EditRoute({ of: route, onClose, onSaved }: RouteForm & { of: Json }) {
  return (
    <Dialog name={`Edit ${route.name}`} onClose={onClose}>
      <Form
        action="Save"
        onCancel={onClose}
        onSubmit={async (values) => onSaved(await patch(`/v1/inbound-routes/${route.id}`, routeOf(values)))}
      >
        <Fields of={route} />
      </Form>
    </Dialog>
  )
}

/** The names of the fields are those in the API's validation errors. */
function Fields({ of: route = NEW }: { of?: Json }) {
  const [match, setMatch] = useState<string>(route.match.type)
  const [action, setAction] = useState<string>(route.action.type)
  const { config } = route.action
  return (
    <>
      <Field name="name" label="Name">
        {(control) => <input {...control} required maxLength={100} defaultValue={route.name} placeholder="Help desk" />}
      </Field>
      <Field name="match.type" label="Recipients">
        {(control) => <Select of={MATCHES} control={control} chosen={match} onChange={setMatch} />}
      </Field>
      {match !== 'catch_all' && (
        <Field name="match.value" label={MATCH_LABELS[match] ?? ''} hint={MATCH_HINTS[match]}>
          {(control) => (
            <input
              key={match}
              {...control}
              required
              autoComplete="off"
              spellcheck={false}
              defaultValue={match === route.match.type ? route.match.value : ''}
              placeholder={MATCH_EXAMPLES[match]}
            />
          )}
        </Field>
      )}
      <Field name="action.type" label="Action">
        {(control) => <Select of={ACTIONS} control={control} chosen={action} onChange={setAction} />}
      </Field>
      {action === 'webhook' && (
        <>
          <Field
            name="action.config.url"
            label="URL"
            hint="An https URL at a public address. Postrider posts the mail as signed JSON."
          >
            {(control) => (
              <input
                {...control}
                required
                type="url"
                defaultValue={config.url}
                placeholder="https://api.example.com/inbound"
              />
            )}
          </Field>
          <Check name="include_attachments" label="Include attachments" isOn={config.include_attachments} />
          <Check name="replies" label="Include the new part of replies" isOn={config.replies} />
          <HeadersField name={HEADERS} stored={config.header_names} />
        </>
      )}
      {action === 'forward' && (
        <>
          <Field
            name="action.config.to"
            label="To"
            hint="Up to ten addresses, one per line. An address outside your verified domains must first confirm through a link that Postrider sends."
          >
            {(control) => (
              <textarea
                {...control}
                required
                rows={2}
                defaultValue={config.to?.map(({ email }: Json) => email).join('\n')}
              />
            )}
          </Field>
          {route.id !== undefined && <Targets of={route} />}
        </>
      )}
      <Field name="authentication" label="Authentication">
        {(control) => <Select of={AUTHENTICATIONS} control={control} chosen={route.authentication} />}
      </Field>
      <Field
        name="priority"
        label="Priority"
        hint="From −1000 to 1000. If several routes match, the one with the highest priority handles the message."
      >
        {(control) => (
          <input {...control} type="number" min={-1000} max={1000} step={1} required defaultValue={route.priority} />
        )}
      </Field>
      <Check name="enabled" label="Enabled" isOn={route.enabled} />
    </>
  )
}

function Select({
  of: options,
  control,
  chosen,
  onChange,
}: {
  of: readonly (readonly [id: string, label: string])[]
  control: object
  chosen: string
  onChange?: (id: string) => void
}) {
  return (
    <select {...control} onChange={(event) => onChange?.(event.currentTarget.value)}>
      <Options of={options} chosen={chosen} />
    </select>
  )
}

const HEADERS = 'action.config.headers'
const NEW = {
  name: '',
  match: { type: 'address', value: '' },
  action: { type: 'webhook', config: { include_attachments: false, replies: true } },
  authentication: 'none',
  enabled: true,
  priority: 0,
}

const MATCHES = [
  ['address', 'One address'],
  ['pattern', 'Addresses that match a pattern'],
  ['domain', 'All addresses of a domain'],
  ['catch_all', 'All addresses of all domains'],
] as const
const MATCH_LABELS: Record<string, string> = { address: 'Address', pattern: 'Pattern', domain: 'Domain' }
const MATCH_HINTS: Record<string, string> = {
  address: 'Includes help+anything@…, unless a more specific route matches.',
  pattern: '* matches any text before the @.',
  domain: 'One of your domains.',
}
const MATCH_EXAMPLES: Record<string, string> = {
  address: 'help@example.com',
  pattern: 'order-*@example.com',
  domain: 'example.com',
}
const ACTIONS = [
  ['webhook', 'Post to a webhook'],
  ['forward', 'Forward'],
  ['store', 'Store'],
] as const
const AUTHENTICATIONS = [
  ['none', 'Accept all mail and report the results'],
  ['dmarc', 'Reject mail that fails DMARC if the sender’s policy is reject'],
  ['require_pass', 'Reject mail that does not pass DMARC'],
] as const

/** Form values → body of the API request. */
function routeOf(values: Values): Json {
  const { name, authentication, priority, enabled } = values
  const type = values['match.type']
  return {
    name,
    match: type === 'catch_all' ? { type } : { type, value: values['match.value'] },
    action: actionOf(values),
    authentication,
    priority,
    enabled,
  }
}

function actionOf(values: Values): Json {
  const type = values['action.type']
  if (type === 'store') return { type }
  if (type === 'forward') return { type, config: { to: values['action.config.to'].split(/[\s,;]+/).filter(Boolean) } }
  const { given } = takeHeaders(HEADERS, values)
  return {
    type,
    config: {
      url: values['action.config.url'],
      include_attachments: values.include_attachments,
      replies: values.replies,
      ...given,
    },
  }
}
