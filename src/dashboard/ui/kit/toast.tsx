import { signal } from '@preact/signals'
import { wordsOf } from './api.ts'

interface Said {
  id: number
  text: string
  tone: 'good' | 'bad'
}

const toasts = signal<Said[]>([])
let count = 0

/** Says that something was done, in the corner and to screen readers; goes by itself. */
export function toast(text: string): void {
  show(text, 'good', 4_000)
}

/** Says what went wrong; stays longer. */
export function toastError(thrown: unknown): void {
  show(wordsOf(thrown), 'bad', 12_000)
}

/** Does it, says that it is done, or what went wrong; true when it went well. */
export async function attempt(work: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await work()
    if (done !== undefined) toast(done)
    return true
  } catch (thrown) {
    toastError(thrown)
    return false
  }
}

function show(text: string, tone: Said['tone'], forMs: number): void {
  const id = ++count
  toasts.value = [...toasts.value.slice(-3), { id, text, tone }]
  window.setTimeout(() => forget(id), forMs)
}

function forget(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id)
}

/** Where they are shown; once, in the layout. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, tone }) => (
        <div key={id} class={`toast ${tone}`}>
          <span class="break">{text}</span>
          <button type="button" class="plain tiny" aria-label="Dismiss" onClick={() => forget(id)}>
            ✕
          </button>
        </div>
      ))}
    </div>
  )
}
