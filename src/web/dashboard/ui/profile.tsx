import { useState } from 'preact/hooks'
import { loadSession, patch } from './kit/api.ts'
import { Dialog } from './kit/dialog.tsx'
import { Field, Form } from './kit/form.tsx'
import { session } from './kit/state.ts'
import { toast } from './kit/toast.tsx'

/** True for the first operator of an installation until a name and an address are set. */
export const lacksProfile = () => session.value?.user.email === null

/** Asks the first operator for name and address; nothing once they are set. */
export function ProfileNotice() {
  const [isOpen, setOpen] = useState(false)
  if (!lacksProfile()) return null
  return (
    <div class="notice row apart profile-notice">
      <span>Add your name and email. You’ll sign in with them once someone else joins.</span>
      <button type="button" class="tiny" onClick={() => setOpen(true)}>
        Add name and email
      </button>
      {isOpen && <ProfileDialog onClose={() => setOpen(false)} />}
    </div>
  )
}

/** Dialog for name and address of the user. */
export function ProfileDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog name="Your name and email" onClose={onClose}>
      <p class="muted">The audit log shows the address. You sign in with it once there is a second user.</p>
      <Form
        action="Save"
        onCancel={onClose}
        onSubmit={async (values) => {
          await patch(`/v1/users/${session.value?.user.id}`, values, { isForAll: true })
          await loadSession()
          toast('Saved')
        }}
        onDone={onClose}
      >
        <Field name="name" label="Name">
          {(control) => <input {...control} required maxLength={100} autoComplete="name" />}
        </Field>
        <Field name="email" label="Email">
          {(control) => <input {...control} required type="text" inputMode="email" autoComplete="email" />}
        </Field>
      </Form>
    </Dialog>
  )
}
