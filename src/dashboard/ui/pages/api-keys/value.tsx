import type { Json } from '../../kit/api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { when } from '../../kit/format.ts'
import { CopyButton, Facts } from '../../kit/pieces.tsx'

/** The value of a key that was just made, and what to do with it. It is on no disk: who closes this without it makes another. */
export function KeyValue({ of: key, onClose }: { of: Json; onClose: () => void }) {
  const domain = key.domain ?? 'example.com'
  const curl = `curl ${window.location.origin}/v1/messages/send \\
  -H 'Authorization: Bearer ${key.key}' -H 'Content-Type: application/json' \\
  -d '{"from":"hello@${domain}","to":"you@example.org","subject":"Hello","html":"<p>It works.</p>"}'`
  return (
    <Dialog name={`Key ${key.name}`} onClose={onClose}>
      <p class="notice warn">Copy it now: it is shown this once and kept nowhere.</p>
      <div class="row apart">
        <code class="break grow" data-value>
          {key.key}
        </code>
        <CopyButton text={key.key} label="key" />
      </div>
      {key.previous && <p class="muted">The old key ends {when(key.previous.expires_at)}.</p>}
      {key.permissions.some((held: string) => held === 'send' || held === 'admin') && (
        <>
          <div class="row apart">
            <h3>Send with it</h3>
            <CopyButton text={curl} label="command" />
          </div>
          <pre class="wrap">{curl}</pre>
          <details>
            <summary>By SMTP</summary>
            <Facts
              of={[
                ['Host', window.location.hostname],
                ['Port', '587 with STARTTLS, 465 with TLS, as far as the config opens them'],
                ['User', 'anything, like postrider'],
                ['Password', 'the key'],
              ]}
            />
          </details>
        </>
      )}
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          I have it
        </button>
      </div>
    </Dialog>
  )
}
