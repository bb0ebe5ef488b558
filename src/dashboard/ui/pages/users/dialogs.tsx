import { type Json, patch, post } from '../../kit/api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { Field, Form } from '../../kit/form.tsx'
import { when } from '../../kit/format.ts'
import { CopyButton } from '../../kit/pieces.tsx'
import { organization } from '../../kit/state.ts'
import { toast } from '../../kit/toast.tsx'

/** A link that the person who creates it passes on. */
export interface ShownLink {
  name: string
  url: string
  /** ISO 8601. */
  expiresAt: string
}

interface LinkForm {
  onClose: () => void
  onLink: (link: ShownLink) => void
}

const ROLES = [
  ['viewer', 'Viewer: read everything except keys, webhooks and routes'],
  ['support', 'Support: also resend and cancel messages, manage suppressions'],
  ['developer', 'Developer: also manage domains, keys, templates, webhooks and routes'],
  ['admin', 'Admin: also delete domains'],
  ['owner', 'Owner: also manage users and the plan'],
] as const

function RoleField({ value }: { value: string }) {
  return (
    <Field
      name="role"
      label="Role"
      hint={
        <a href="/manual/users" target="_blank" rel="noreferrer">
          What each role may do
        </a>
      }
    >
      {(control) => (
        <select {...control} required>
          {ROLES.map(([role, label]) => (
            <option key={role} value={role} selected={role === value}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/** Invites somebody again or for the first time, and passes on the new link. Throws ApiError. */
export async function invite(email: string, role: string): Promise<ShownLink> {
  const { url, expires_at } = await post('/v1/invitations', { email, role })
  return { name: `Invitation for ${email}`, url, expiresAt: expires_at }
}

/** Dialog that invites a user to the selected organization. */
export function InviteUser({ onClose, onLink }: LinkForm) {
  return (
    <Dialog name={`Invite a user to ${organization.value?.name}`} onClose={onClose}>
      <Form action="Invite" onCancel={onClose} onSubmit={async ({ email, role }) => onLink(await invite(email, role))}>
        <Field name="email" label="Email">
          {(control) => <input {...control} required type="text" inputMode="email" autoComplete="off" />}
        </Field>
        <RoleField value="viewer" />
      </Form>
    </Dialog>
  )
}

/** Dialog that creates an operator of the server. */
export function AddOperator({ onClose, onLink }: LinkForm) {
  return (
    <Dialog name="Add an operator" onClose={onClose}>
      <p class="muted">Operators have all rights in all organizations, and manage this server.</p>
      <Form
        action="Add operator"
        onCancel={onClose}
        onSubmit={async (values) => {
          const { id, name } = await post('/v1/users', { ...values, is_operator: true }, { isForAll: true })
          const { url, expires_at } = await post(`/v1/users/${id}/reset`, {}, { isForAll: true })
          onLink({ name: `Password link for ${name}`, url, expiresAt: expires_at })
        }}
      >
        <Field name="name" label="Name">
          {(control) => <input {...control} required maxLength={100} autoComplete="off" />}
        </Field>
        <Field name="email" label="Email">
          {(control) => <input {...control} required type="text" inputMode="email" autoComplete="off" />}
        </Field>
      </Form>
    </Dialog>
  )
}

/** Dialog for the role of a user in the selected organization. */
export function ChangeRole({ of: user, onClose, onSaved }: { of: Json; onClose: () => void; onSaved: () => void }) {
  const present = user.roles.find((each: Json) => each.organization_id === organization.value?.id)?.role
  return (
    <Dialog name={`Change the role of ${user.name}`} onClose={onClose}>
      <Form
        action="Save"
        onCancel={onClose}
        onSubmit={async ({ role }) => {
          await patch(`/v1/users/${user.id}`, { role })
          toast(`${user.name} is now ${role}`)
          onSaved()
        }}
      >
        <RoleField value={present} />
      </Form>
    </Dialog>
  )
}

/** Dialog with a link, which the server shows only once. */
export function LinkDialog({ link: { name, url, expiresAt }, onClose }: { link: ShownLink; onClose: () => void }) {
  return (
    <Dialog name={name} onClose={onClose}>
      <p>Send this link over a channel that only the person can read. It is shown only once.</p>
      <div class="row apart">
        <code class="break grow" data-value>
          {url}
        </code>
        <CopyButton text={url} label="link" />
      </div>
      <p class="muted">It works once, until {when(expiresAt)}.</p>
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  )
}
