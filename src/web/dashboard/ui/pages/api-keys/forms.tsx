import { get, type Json, patch, post } from '../../kit/api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { Check, Field, Form } from '../../kit/form.tsx'
import { useLoad } from '../../kit/load.ts'
import { ErrorNotice, Options } from '../../kit/pieces.tsx'
import { href } from '../../kit/router.ts'
import { MODES, mode } from '../../kit/state.ts'
import { GraceField } from '../grace-field.tsx'

interface KeyForm {
  onClose: () => void
  /** Gets the key with its value. The API returns the value only once. */
  onSaved: (key: Json) => void
}

const PERMISSIONS = [
  ['send', 'send: send and analyze messages of the domain'],
  ['read', 'read: read messages, events and statistics of the domain'],
  ['manage', 'manage: manage templates, webhooks, routes and keys of the domain'],
  ['admin', 'admin: full access to all domains'],
] as const

/** Splits a list of networks. Null without networks, which allows any address. */
function networksIn(text: string | undefined): string[] | null {
  const networks = (text ?? '').split(/[\s,]+/).filter((each) => each !== '')
  return networks.length === 0 ? null : networks
}

function NetworksField({ value }: { value?: string[] | null }) {
  const hint = 'IP addresses or CIDR ranges, one per line, such as 203.0.113.0/24. Leave empty to allow any address.'
  return (
    <Field name="allowed_networks" label="Allowed networks" hint={hint}>
      {(control) => <textarea {...control} rows={2} spellcheck={false} defaultValue={value?.join('\n') ?? ''} />}
    </Field>
  )
}

/** Dialog for a new API key; `onSaved` gets the key with its value. */
export function CreateKey({ onClose, onSaved }: KeyForm) {
  const { data, error, reload } = useLoad((signal) => get('/v1/domains', { limit: 100 }, signal), [])
  // Those that send come first, so that the dialog selects none from which nothing can be sent.
  const domains: Json[] | undefined = data?.data.toSorted(
    (a: Json, b: Json) => Number(b.sends_live) - Number(a.sends_live),
  )
  const cannotSend = domains !== undefined && domains[0]?.sends_live !== true
  return (
    <Dialog name="Create API key" onClose={onClose}>
      <ErrorNotice error={error} onRetry={reload} />
      {domains?.length === 0 && (
        <p class="notice">
          A key belongs to a domain. <a href={href('/domains')}>Add a domain</a> first.
        </p>
      )}
      {domains !== undefined && domains.length > 0 && (
        <Form
          action="Create key"
          onCancel={onClose}
          onSubmit={async ({ expires_at, allowed_networks, ...values }) => {
            const ends = expires_at === undefined ? {} : { expires_at: new Date(expires_at).toISOString() }
            const networks = { allowed_networks: networksIn(allowed_networks) }
            onSaved(await post('/v1/api-keys', { ...values, ...ends, ...networks }))
          }}
        >
          <Field name="name" label="Name" hint="The app or person that uses this key.">
            {(control) => <input {...control} required maxLength={100} autoComplete="off" />}
          </Field>
          <Field name="domain_id" label="Domain">
            {(control) => (
              <select {...control} required>
                {cannotSend && <option value="">Choose a domain</option>}
                <Options
                  of={domains.map(({ id, name, sends_live }) => [id, sends_live ? name : `${name} (can’t send yet)`])}
                />
              </select>
            )}
          </Field>
          <Field
            name="mode"
            label="Mode"
            hint="Test keys simulate sending. They read, change and create only test records."
          >
            {(control) => (
              <select {...control}>
                <Options of={MODES} chosen={mode.value} />
              </select>
            )}
          </Field>
          <fieldset class="stack tight plain-set">
            <legend>Permissions</legend>
            {PERMISSIONS.map(([value, label]) => (
              <Check key={value} name="permissions" value={value} label={label} isOn={value === 'send'} />
            ))}
          </fieldset>
          <Field name="expires_at" label="Expires" hint="Leave empty for a key that does not expire.">
            {(control) => <input {...control} type="datetime-local" />}
          </Field>
          <NetworksField />
        </Form>
      )}
    </Dialog>
  )
}

/** Dialog for the name and the networks of an API key. */
export function EditKey({ of: key, onClose, onSaved }: { of: Json; onClose: () => void; onSaved: () => void }) {
  return (
    <Dialog name={`Edit ${key.name}`} onClose={onClose}>
      <Form
        action="Save"
        onCancel={onClose}
        onSubmit={async ({ name, allowed_networks }) => {
          await patch(`/v1/api-keys/${key.id}`, { name, allowed_networks: networksIn(allowed_networks) })
          onSaved()
        }}
      >
        <Field name="name" label="Name">
          {(control) => <input {...control} required maxLength={100} autoComplete="off" defaultValue={key.name} />}
        </Field>
        <NetworksField value={key.allowed_networks} />
      </Form>
    </Dialog>
  )
}

/** Dialog that replaces an API key; `onSaved` gets the new key with its value. */
export function RotateKey({ of: key, onClose, onSaved }: KeyForm & { of: Json }) {
  return (
    <Dialog name={`Rotate ${key.name}`} onClose={onClose}>
      <p>
        This creates a new key with the same permissions, mode, expiry and networks. Both work until the old one
        expires.
      </p>
      <Form
        action="Rotate key"
        onCancel={onClose}
        onSubmit={async (values) => {
          const minutes = Number(values.grace_period_minutes)
          onSaved(await post(`/v1/api-keys/${key.id}/rotate`, { grace_period_minutes: minutes }))
        }}
      >
        <GraceField label="Old key expires" />
      </Form>
    </Dialog>
  )
}
