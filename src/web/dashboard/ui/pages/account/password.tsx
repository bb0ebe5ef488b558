import { signInBy } from '../../kit/api.ts'
import { Field, Form } from '../../kit/form.tsx'
import { session } from '../../kit/state.ts'
import { toast } from '../../kit/toast.tsx'

/** Sets or changes the password of the user. */
export function Password({ onDone }: { onDone: () => void }) {
  const hasPassword = session.value?.has_password
  return (
    <section class="card stack">
      <h2>{hasPassword ? 'Change password' : 'Set a password'}</h2>
      <p class="muted">
        {hasPassword
          ? 'Changing the password ends all other sessions.'
          : 'Without a password, you sign in with a passkey or a link.'}
      </p>
      <PasswordForm onDone={onDone} />
    </section>
  )
}

function PasswordForm({ onDone }: { onDone: () => void }) {
  const hasPassword = session.value?.has_password
  return (
    <Form
      key={String(hasPassword)}
      action={hasPassword ? 'Change password' : 'Set password'}
      onSubmit={async (values) => {
        await signInBy('/session/password', values)
        toast('Password saved')
        onDone()
      }}
    >
      {hasPassword && (
        <Field name="present" label="Current password">
          {(control) => <input {...control} required type="password" autoComplete="current-password" />}
        </Field>
      )}
      <Field name="password" label="New password" hint="At least 12 characters.">
        {(control) => <input {...control} required type="password" minLength={12} autoComplete="new-password" />}
      </Field>
    </Form>
  )
}
