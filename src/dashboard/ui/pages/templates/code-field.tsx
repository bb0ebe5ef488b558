import { useEffect, useId, useRef } from 'preact/hooks'
import type { TextFault } from './faults.ts'

/** A text area with line numbers, which marks the position of an error. Tab moves to the next field. */
export function CodeField({
  name,
  label,
  value,
  fault,
  onInput,
}: {
  name: string
  label: string
  value: string
  fault: TextFault | undefined
  onInput: (text: string) => void
}) {
  const id = useId()
  const area = useRef<HTMLTextAreaElement>(null)
  const gutter = useRef<HTMLPreElement>(null)
  const follow = () => {
    if (gutter.current && area.current) gutter.current.scrollTop = area.current.scrollTop
  }
  useEffect(follow)
  const lines = value.split('\n').length
  const wrong = fault?.line ?? 0
  return (
    <div class="field">
      <label class="hidden" for={id}>
        {label}
      </label>
      <div class={`code ${fault ? 'wrong' : ''}`}>
        <pre ref={gutter} aria-hidden="true">
          {numbers(1, wrong > 0 ? wrong - 1 : lines)}
          {wrong > 0 && <mark>{wrong}</mark>}
          {wrong > 0 && `\n${numbers(wrong + 1, lines)}`}
        </pre>
        <textarea
          ref={area}
          id={id}
          name={name}
          class="mono"
          rows={18}
          wrap="off"
          spellcheck={false}
          autoCapitalize="off"
          autoComplete="off"
          value={value}
          aria-invalid={fault ? true : undefined}
          aria-describedby={fault ? `${id}-fault` : undefined}
          onInput={(event) => onInput(event.currentTarget.value)}
          onScroll={follow}
        />
      </div>
      {fault && (
        <span class="row fault" id={`${id}-fault`}>
          <span class="break">
            {fault.line !== null && `Line ${fault.line}, column ${fault.column}: `}
            {fault.message}
          </span>
          {fault.line !== null && (
            <button type="button" class="tiny" onClick={() => area.current && select(area.current, fault)}>
              Jump to line {fault.line}
            </button>
          )}
        </span>
      )}
    </div>
  )
}

function numbers(from: number, to: number): string {
  let text = ''
  for (let line = from; line <= to; line++) text += `${line}\n`
  return text
}

/** Selects the text from the error to the end of its line. */
function select(area: HTMLTextAreaElement, { line, column }: TextFault): void {
  const before = area.value
    .split('\n')
    .slice(0, (line ?? 1) - 1)
    .reduce((sum, each) => sum + each.length + 1, 0)
  const start = Math.min(area.value.length, before + (column ?? 1) - 1)
  const end = area.value.indexOf('\n', start)
  area.focus()
  area.setSelectionRange(start, end === -1 ? area.value.length : end)
  const lineHeight = area.scrollHeight / area.value.split('\n').length
  area.scrollTop = Math.max(0, ((line ?? 1) - 4) * lineHeight) // three lines above it stay visible
  area.scrollLeft = Math.max(0, (column ?? 1) - 40) * (lineHeight / 2.5)
}
