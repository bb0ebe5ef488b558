import { signal } from '@preact/signals'
import { errorText } from './api.ts'

interface Toast {
  id: number
  text: string
  tone: 'good' | 'bad'
}

const toasts = signal<Toast[]>([])
let count = 0

/** Shows a confirmation for 4 s and announces it to screen readers. */
export function toast(text: string): void {
  show(text, 'good', 4_000)
}

/** Shows an error for 12 s and announces it to screen readers. */
export function toastError(thrown: unknown): void {
  show(errorText(thrown), 'bad', 12_000)
}

/** Runs `work`, then shows `done` or the error. Resolves with whether it succeeded; never rejects. */
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

function show(text: string, tone: Toast['tone'], forMs: number): void {
  const id = ++count
  toasts.value = [...toasts.value.slice(-3), { id, text, tone }]
  window.setTimeout(() => dismiss(id), forMs)
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id)
}

/** Renders the toasts, at most four. The layout contains it once. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, tone }) => (
        <div key={id} class={`toast ${tone}`}>
          <span class="break">{text}</span>
          <button type="button" class="plain tiny" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ✕
          </button>
        </div>
      ))}
    </div>
  )
}
