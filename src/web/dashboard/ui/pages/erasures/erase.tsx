import { post } from '../../kit/api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { Check, Field, Form } from '../../kit/form.tsx'
import { Facts } from '../../kit/pieces.tsx'
import { toast } from '../../kit/toast.tsx'

/** Dialog that begins the erasure of an address, with what it removes and what stays. */
export function EraseRecipient({ email, onClose, onDone }: { email: string; onClose: () => void; onDone: () => void }) {
  return (
    <Dialog name="Erase a recipient" onClose={onClose}>
      <Form
        action="Erase recipient"
        isDangerous
        onCancel={onClose}
        onSubmit={async ({ email }) => {
          await post('/v1/recipients/erase', { email })
          onClose()
          toast('Erasure started')
          onDone()
        }}
      >
        <Field name="email" label="Address">
          {(control) => (
            <input {...control} required type="text" inputMode="email" autoComplete="off" defaultValue={email} />
          )}
        </Field>
        <Facts
          of={[
            [
              'Removed',
              'Messages and inbound messages to nobody else, events with the address, and stored responses. Messages with other recipients lose the address and their content.',
            ],
            ['Cancelled', 'Queued mail to the address.'],
            ['Kept', 'Statistics. A suppression keeps a hash, so Postrider still does not send to the address.'],
            ['Backups', 'Those made before contain the address until you delete them.'],
          ]}
        />
        <p class="muted small">Runs in the background. At most 20 erasures of an organization run at the same time.</p>
        <Check name="" label="I know that this cannot be undone" isRequired />
      </Form>
    </Dialog>
  )
}
