import { get, type Json, post } from '../../kit/api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { Check, Field, Form } from '../../kit/form.tsx'
import { useLoad } from '../../kit/load.ts'
import { Fault } from '../../kit/pieces.tsx'
import { href } from '../../kit/router.ts'
import { mode } from '../../kit/state.ts'
import { GraceField } from '../grace-field.tsx'

interface Making {
  onClose: () => void
  /** With the value of the key, which nobody shows again. */
  onMade: (key: Json) => void
}

const PERMISSIONS = [
  ['send', 'send: hand in and analyze messages'],
  ['read', 'read: messages, events, statistics'],
  ['manage', 'manage: domains, templates, webhooks, keys'],
  ['admin', 'admin: everything, with plan and audit log'],
] as const

export function CreateKey({ onClose, onMade }: Making) {
  const { data, error, reload } = useLoad((signal) => get('/v1/domains', { limit: 100 }, signal), [])
  const domains: Json[] | undefined = data?.data
  return (
    <Dialog name="Create a key" onClose={onClose}>
      <Fault error={error} onRetry={reload} />
      {domains?.length === 0 && (
        <p class="notice">
          A key belongs to a domain. <a href={href('/domains')}>Add one first.</a>
        </p>
      )}
      {domains !== undefined && domains.length > 0 && (
        <Form
          action="Create key"
          onCancel={onClose}
          onSubmit={async ({ expires_at, ...values }) => {
            const ends = expires_at === undefined ? {} : { expires_at: new Date(expires_at).toISOString() }
            onMade(await post('/v1/api-keys', { ...values, ...ends }))
          }}
        >
          <Field name="name" label="Name" hint="What it is for: the program or the person.">
            {(control) => <input {...control} required maxLength={100} autoComplete="off" />}
          </Field>
          <Field name="domain_id" label="Domain">
            {(control) => (
              <select {...control}>
                {domains.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field name="mode" label="Mode" hint="With a test key outcomes are made up and nothing leaves.">
            {(control) => (
              <select {...control} defaultValue={mode.value}>
                <option value="live">live</option>
                <option value="test">test</option>
              </select>
            )}
          </Field>
          <fieldset class="stack tight plain-set">
            <legend>It may</legend>
            {PERMISSIONS.map(([value, words]) => (
              <Check key={value} name="permissions" value={value} label={words} isOn={value === 'send'} />
            ))}
          </fieldset>
          <Field name="expires_at" label="Ends" hint="Empty: never.">
            {(control) => <input {...control} type="datetime-local" />}
          </Field>
        </Form>
      )}
    </Dialog>
  )
}

export function RotateKey({ of: key, onClose, onMade }: Making & { of: Json }) {
  return (
    <Dialog name={`Rotate ${key.name}`} onClose={onClose}>
      <p>A new key with the same rights is made. Until the old one ends, both work.</p>
      <Form
        action="Rotate key"
        onCancel={onClose}
        onSubmit={async (values) => {
          const minutes = Number(values.grace_period_minutes)
          onMade(await post(`/v1/api-keys/${key.id}/rotate`, { grace_period_minutes: minutes }))
        }}
      >
        <GraceField label="The old key ends" />
      </Form>
    </Dialog>
  )
}
