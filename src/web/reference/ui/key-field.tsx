import { useId, useState } from 'preact/hooks'
import { Icon } from '../../dashboard/ui/kit/icon.tsx'
import { masked, readKey } from './key.ts'
import { keepKey, testKey } from './state.ts'

/** Takes a test key for the examples and requests of this page, or shows the one it has. */
export function KeyField() {
  const [refused, setRefused] = useState('')
  const id = useId()
  const key = testKey.value
  if (key !== null)
    return (
      <div class="key-field row">
        <Icon name="key-round" />
        <code>{masked(key)}</code>
        <span class="muted small grow">In all examples until you close this tab</span>
        <button type="button" class="tiny" onClick={() => keepKey(null)}>
          Remove key
        </button>
      </div>
    )
  const take = (field: HTMLInputElement, isFinal: boolean) => {
    const { key: found, refused: why } = readKey(field.value)
    const isLive = field.value.includes('svc_live_')
    if (isLive) field.value = ''
    if (found !== null && isFinal) keepKey(found)
    setRefused(isLive || (isFinal && field.value !== '') ? (why ?? '') : '')
  }
  return (
    <div class="field key-field">
      <label for={id}>Test key</label>
      <input
        id={id}
        type="password"
        autoComplete="off"
        spellcheck={false}
        placeholder="svc_test_…"
        aria-invalid={refused !== ''}
        aria-describedby={`${id}-hint`}
        data-key
        onInput={(event) => take(event.currentTarget, event.inputType === 'insertFromPaste')}
        onChange={(event) => take(event.currentTarget, true)}
        onKeyDown={(event) => event.key === 'Enter' && take(event.currentTarget, true)}
      />
      {refused !== '' && (
        <span class="fault" role="alert">
          {refused}
        </span>
      )}
      <span class="hint" id={`${id}-hint`}>
        Starts with <code>svc_test_</code>. This tab keeps it until you close it, and sends it to this server only.
        Create one in the dashboard under <a href="/dashboard/api-keys">API keys</a>.
      </span>
    </div>
  )
}
