import { Tabs } from '../../dashboard/ui/kit/pieces.tsx'
import { exampleIn, LANGUAGE_NAMES, LANGUAGES } from '../../examples/languages.ts'
import { Code } from './code.tsx'
import type { Operation } from './document.ts'
import { exampleOf } from './examples/request.ts'
import { masked } from './key.ts'
import { withSender } from './own-domain.ts'
import { keyDomain, language, testKey } from './state.ts'

const TABS = LANGUAGES.map((id) => [id, LANGUAGE_NAMES[id]] as const)

/** The request in the chosen language, which the browser remembers. The key is masked; the copied text contains it. */
export function Examples({ operation }: { operation: Operation }) {
  const key = testKey.value
  const request = exampleOf(operation, {}, withSender(operation.body?.example, keyDomain.value))
  const text = exampleIn(language.value, request, { origin: window.location.origin, key })
  const shown = key === null ? text : text.replaceAll(key, masked(key))
  return (
    <section class="examples" aria-label="Example">
      <Tabs name="Language" tabs={TABS} chosen={language.value} onChoose={(id) => (language.value = id)}>
        <Code
          text={shown}
          copied={text}
          language={language.value}
          label={`Example in ${LANGUAGE_NAMES[language.value]}`}
          caption={`${operation.method} ${operation.path}`}
        />
      </Tabs>
      {request.access === 'session' && (
        <p class="muted small">
          No key can call this operation. <code>POSTRIDER_SESSION</code> is the session cookie of a signed-in operator.
        </p>
      )}
    </section>
  )
}

/** A JSON value with a copy button; other text as it is. */
export function JsonBox({ value, label, caption }: { value: unknown; label: string; caption: string }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return (
    <Code
      text={text}
      copied={text}
      language={typeof value === 'string' ? 'plain' : 'json'}
      label={label}
      caption={caption}
    />
  )
}
