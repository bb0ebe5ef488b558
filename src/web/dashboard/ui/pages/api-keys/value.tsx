import { useState } from 'preact/hooks'
import type { ExampleRequest } from '../../../../examples/example.ts'
import { exampleIn, LANGUAGE_NAMES, LANGUAGES, type Language } from '../../../../examples/languages.ts'
import type { Json } from '../../kit/api.ts'
import { CloseButton, Dialog } from '../../kit/dialog.tsx'
import { when } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { CopyButton, copyText, Facts, Tabs } from '../../kit/pieces.tsx'
import { session } from '../../kit/state.ts'

type Tab = Language | 'smtp' | 'env'
const TABS = [
  ...LANGUAGES.map((language) => [language as Tab, LANGUAGE_NAMES[language]] as const),
  ['smtp', 'SMTP'],
  ['env', '.env'],
] as const satisfies readonly (readonly [Tab, string])[]

/** Dialog with the value of a new key, and with what uses it in each language. The server stores only a hash, so it cannot
 *  show the value again. */
export function KeyValue({ of: key, onClose }: { of: Json; onClose: () => void }) {
  const [tab, setTab] = useState<Tab>('curl')
  const maySend = key.permissions.some((held: string) => held === 'send' || held === 'admin')
  return (
    <Dialog name="Your new API key" className="wide" onClose={onClose}>
      <p>
        <strong>
          <bdi>{key.name}</bdi>
        </strong>
        : copy it now. You won’t be able to see it again.
      </p>
      <div class="row apart">
        <code class="break grow" data-value>
          {key.key}
        </code>
        <button type="button" class="primary" onClick={() => copyText(key.key, 'key')}>
          <Icon name="copy" />
          Copy key
        </button>
      </div>
      {key.previous && <p class="muted">The old key expires {when(key.previous.expires_at)}.</p>}
      {maySend && (
        <Tabs<Tab> name="Send a message" tabs={TABS} chosen={tab} onChoose={setTab}>
          {tab === 'smtp' ? <Smtp of={key} /> : <Example code={codeOf(tab, key)} />}
        </Tabs>
      )}
      <CloseButton onClose={onClose} />
    </Dialog>
  )
}

function Example({ code }: { code: string }) {
  return (
    <div class="transcript">
      <CopyButton text={code} label="example" />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <pre tabIndex={0}>{code}</pre>
    </div>
  )
}

function Smtp({ of: { key } }: { of: Json }) {
  return (
    <Facts
      of={[
        ['Host', <code>{window.location.hostname}</code>],
        ['Port', '587 with STARTTLS or 465 with TLS, if the config enables them'],
        ['Username', 'Any value, for example postrider'],
        [
          'Password',
          <code class="break" key="password">
            {key}
          </code>,
        ],
      ]}
    />
  )
}

/** A program that sends one message with the key. */
function codeOf(tab: Language | 'env', { key, domain }: Json): string {
  const { origin } = window.location
  if (tab === 'env') return `POSTRIDER_URL=${origin}\nPOSTRIDER_API_KEY=${key}`
  const body = {
    from: `hello@${domain ?? 'example.com'}`,
    to: ownAddress(),
    subject: 'Hello',
    html: '<p>It works.</p>',
  }
  const request: ExampleRequest = {
    method: 'POST',
    path: '/v1/messages/send',
    body,
    answer: 'json',
    file: '',
    access: 'key',
    call: { name: 'messages.send', ids: [], input: body, route: {} },
  }
  return exampleIn(tab, request, { origin, key })
}

/** The user's own mailbox: a message to an invented address would only bounce. */
function ownAddress(): string {
  const email = session.value?.user.email ?? ''
  return /^[\w.+-]+@[\w.-]+$/.test(email) ? email : 'you@example.org'
}
