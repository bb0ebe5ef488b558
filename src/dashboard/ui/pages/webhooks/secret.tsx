import type { Json } from '../../kit/api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { when } from '../../kit/format.ts'
import { CopyButton } from '../../kit/pieces.tsx'

const VERIFY = `import { Postrider } from 'postrider'
const event = await new Postrider().webhooks.unwrap(rawBody, request.headers, process.env.WEBHOOK_SECRET)`

/** The signing secret of a webhook, or of a route, that was just made. */
export function Secret({ of: made, onClose }: { of: Json; onClose: () => void }) {
  const until = made.previous_secret_expires_at
  return (
    <Dialog name="Signing secret" onClose={onClose}>
      <p class="notice warn">Copy it now: it is shown this once.</p>
      <div class="row apart">
        <code class="break grow" data-value>
          {made.secret}
        </code>
        <CopyButton text={made.secret} label="secret" />
      </div>
      {until && <p class="muted">Until {when(until)} requests are signed with the old one too.</p>}
      <p>
        Your program checks with it that a request is ours. Sign-checking libraries of Standard Webhooks take it as it
        is; with our client:
      </p>
      <pre class="wrap">{VERIFY}</pre>
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          I have it
        </button>
      </div>
    </Dialog>
  )
}
