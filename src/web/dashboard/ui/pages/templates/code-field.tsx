import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { CodeEditor, CodeLanguage } from './code-mirror.ts'
import type { TextFault } from './faults.ts'

/** A code editor with line numbers, which marks the position of an error. The first one loads CodeMirror. */
export function CodeField({
  label,
  language,
  value,
  fault,
  onInput,
}: {
  label: string
  language: CodeLanguage
  value: string
  fault: TextFault | undefined
  onInput: (text: string) => void
}) {
  const id = useId()
  const box = useRef<HTMLDivElement>(null)
  const [editor, setEditor] = useState<CodeEditor>()
  const [isFailed, setFailed] = useState(false)
  const current = useRef({ value, onInput })
  current.current = { value, onInput }
  // Texts of the editor, its first one too, that will come back as `value`, when newer ones may already be typed.
  const typed = useRef<string[]>([])
  useEffect(() => {
    let made: CodeEditor | undefined
    let isGone = false
    import('./code-mirror.ts').then(
      ({ createEditor }) => {
        if (isGone || box.current === null) return
        const { value: text } = current.current
        const onInput = (text: string) => {
          typed.current.push(text)
          current.current.onInput(text)
        }
        typed.current.push(text)
        made = createEditor(box.current, { language, label, text, onInput })
        setEditor(made)
      },
      () => setFailed(true),
    )
    return () => {
      isGone = true
      made?.destroy()
    }
  }, [])
  useEffect(() => {
    const at = typed.current.indexOf(value)
    typed.current.splice(0, at === -1 ? typed.current.length : at + 1)
    if (at === -1) editor?.setText(value)
  }, [editor, value])
  useEffect(() => {
    if (editor === undefined) return
    editor.setFault(fault)
    editor.setAttributes({
      'aria-describedby': fault ? `${id}-fault ${id}-hint` : `${id}-hint`,
      ...(fault && { 'aria-invalid': 'true' }),
    })
  }, [editor, fault?.line, fault?.column, fault?.message])
  return (
    <div class="field">
      <div class={`code mono ${fault ? 'wrong' : ''}`} ref={box} />
      {isFailed && <span class="fault">The editor was not loaded. Reload the page.</span>}
      {fault && (
        <span class="row fault" id={`${id}-fault`}>
          <span class="break">
            {fault.line !== null && `Line ${fault.line}${fault.column === null ? '' : `, column ${fault.column}`}: `}
            {fault.message}
          </span>
          {fault.line !== null && (
            <button type="button" class="tiny" onClick={() => editor?.jumpToFault()}>
              Jump to line {fault.line}
            </button>
          )}
        </span>
      )}
      <span class="hint" id={`${id}-hint`}>
        Tab indents. To leave the editor, press Escape, then Tab.
      </span>
    </div>
  )
}
