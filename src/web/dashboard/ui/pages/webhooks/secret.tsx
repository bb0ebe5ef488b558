import type { Json } from '../../kit/api.ts'
import { CloseButton, Dialog } from '../../kit/dialog.tsx'
import { when } from '../../kit/format.ts'
import { CopyButton } from '../../kit/pieces.tsx'

const VERIFY = `import { Postrider } from 'postrider'
const event = await new Postrider().webhooks.unwrap(rawBody, request.headers, process.env.WEBHOOK_SECRET)`

/** Dialog with the new signing secret of a webhook or an inbound route. The API returns it only once. */
export function Secret({ of: owner, onClose }: { of: Json; onClose: () => void }) {
  const until = owner.previous_secret_expires_at
  return (
    <Dialog name="Signing secret" onClose={onClose}>
      <p class="notice warn">Copy it now. It is shown only once.</p>
      <div class="row apart">
        <code class="break grow" data-value>
          {owner.secret}
        </code>
        <CopyButton text={owner.secret} label="secret" />
      </div>
      {until && <p class="muted">Requests are also signed with the old secret until {when(until)}.</p>}
      <p>
        Use it to verify that requests come from this server. Standard Webhooks libraries accept it as is. With the
        Postrider client:
      </p>
      <pre class="wrap">{VERIFY}</pre>
      <CloseButton onClose={onClose} />
    </Dialog>
  )
}
