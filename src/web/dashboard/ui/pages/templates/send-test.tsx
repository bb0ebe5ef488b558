import { useState } from 'preact/hooks'
import { type Json, post } from '../../kit/api.ts'
import { CloseButton, Dialog } from '../../kit/dialog.tsx'
import { Field, Form } from '../../kit/form.tsx'
import { Options, Segments } from '../../kit/pieces.tsx'
import { href } from '../../kit/router.ts'
import { MODES, type Mode, mode } from '../../kit/state.ts'
import { useDomains } from './domains.tsx'

/** Dialog that sends the rendered template as a live or test message. */
export function SendTest({ rendered, onClose }: { rendered: Json; onClose: () => void }) {
  const [by, setBy] = useState<Mode>(mode.peek())
  const [sent, setSent] = useState<Json>()
  const { all, domain, isNone, onChoose } = useDomains()
  if (sent !== undefined) {
    return (
      <Dialog name="Send test" onClose={onClose}>
        <p>
          Message accepted.{' '}
          <a href={href(`/messages/${sent.id}`)} target="_blank" rel="noreferrer">
            View message
          </a>
        </p>
        <CloseButton label="Close" onClose={onClose} />
      </Dialog>
    )
  }
  return (
    <Dialog name="Send test" onClose={onClose}>
      {isNone && <p class="notice warn">Add a domain first.</p>}
      <Segments name="Mode" options={MODES} chosen={by} onChoose={setBy} />
      <p class="muted small">
        {by === 'live' ? 'Delivers the message as previewed.' : 'Test messages are never delivered.'}
      </p>
      <Form
        action="Send"
        onCancel={onClose}
        onSubmit={async ({ to, from }) => {
          const { subject, html, text } = rendered
          const mail = { from, to, subject: subject ?? 'Test', html, text }
          setSent(await post('/v1/messages/send', mail, { domain: domain?.id, headers: { 'x-mode': by } }))
        }}
      >
        <Field name="to" label="To">
          {(control) => <input {...control} required type="email" placeholder="you@example.org" />}
        </Field>
        {all.length > 1 && (
          <Field name="" label="Domain">
            {(control) => (
              <select {...control} value={domain.id} onChange={(event) => onChoose(event.currentTarget.value)}>
                <Options of={all.map(({ id, name }) => [id, name])} chosen={domain.id} />
              </select>
            )}
          </Field>
        )}
        <Field name="from" label="From">
          {(control) => <input {...control} required defaultValue={domain && `hello@${domain.name}`} />}
        </Field>
      </Form>
    </Dialog>
  )
}
