import type { Json } from '../../kit/api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { when } from '../../kit/format.ts'
import { CopyButton, Facts } from '../../kit/pieces.tsx'
import { session } from '../../kit/state.ts'

/** Dialog with the value of a new key and examples. The server stores only a hash, so it cannot show
 *  the value again. */
export function KeyValue({ of: key, onClose }: { of: Json; onClose: () => void }) {
  const domain = key.domain ?? 'example.com'
  // The own mailbox: a message to an invented address would only bounce.
  const email = session.value?.user.email ?? ''
  const to = /^[\w.+-]+@[\w.-]+$/.test(email) ? email : 'you@example.org'
  const curl = `curl ${window.location.origin}/v1/messages/send \\
  -H 'Authorization: Bearer ${key.key}' -H 'Content-Type: application/json' \\
  -d '{"from":"hello@${domain}","to":"${to}","subject":"Hello","html":"<p>It works.</p>"}'`
  return (
    <Dialog name={`Key ${key.name}`} onClose={onClose}>
      <p class="notice warn">Copy it now. It is shown only once and is not stored.</p>
      <div class="row apart">
        <code class="break grow" data-value>
          {key.key}
        </code>
        <CopyButton text={key.key} label="key" />
      </div>
      {key.previous && <p class="muted">The old key expires {when(key.previous.expires_at)}.</p>}
      {key.permissions.some((held: string) => held === 'send' || held === 'admin') && (
        <>
          <div class="row apart">
            <h3>Send a message</h3>
            <CopyButton text={curl} label="command" />
          </div>
          <pre class="wrap">{curl}</pre>
          <details>
            <summary>SMTP settings</summary>
            <Facts
              of={[
                ['Host', window.location.hostname],
                ['Port', '587 with STARTTLS or 465 with TLS, if enabled in the config'],
                ['Username', 'Any value, for example postrider'],
                ['Password', 'The key'],
              ]}
            />
          </details>
        </>
      )}
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  )
}
