import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { html } from '@codemirror/lang-html'
import { json } from '@codemirror/lang-json'
import { liquid } from '@codemirror/lang-liquid'
import { bracketMatching, indentOnInput } from '@codemirror/language'
import { unifiedMergeView } from '@codemirror/merge'
import { search, searchKeymap } from '@codemirror/search'
import {
  Annotation,
  Compartment,
  EditorState,
  type Extension,
  StateEffect,
  StateField,
  type Text,
} from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { adoptStyles, look } from './code-look.ts'
import type { TextFault } from './faults.ts'

/** CodeMirror with the languages of templates. Loaded by the template editor alone (code-field.tsx, diff.tsx). */

export type CodeLanguage = 'html' | 'text' | 'json'

/** A mounted editor. */
export interface CodeEditor {
  /** Replaces the text, as one step that can be undone; does nothing if the text is the same. */
  setText(text: string): void
  /** Marks the line and the rest of it from the column on; undefined removes the mark. */
  setFault(fault: TextFault | undefined): void
  /** Further ARIA attributes of the text field. */
  setAttributes(attributes: Record<string, string>): void
  /** Selects the marked text and scrolls to it. */
  jumpToFault(): void
  destroy(): void
}

interface Given {
  language: CodeLanguage
  label: string
  text: string
  onInput: (text: string) => void
}

/** Mounts an editor into an empty element. Tab indents; Escape, then Tab leaves it (keys.tsx removes the focus at
 *  Escape). `onInput` gets the text after each change by the user. */
export function createEditor(parent: HTMLElement, { language, label, text, onInput }: Given): CodeEditor {
  adoptStyles()
  const attributes = new Compartment()
  const view = new EditorView({
    parent,
    doc: text,
    extensions: [
      lineNumbers(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      search({ top: true }),
      keymap.of([...searchKeymap, ...historyKeymap, indentWithTab, ...defaultKeymap]),
      attributes.of([]),
      EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
      faultMarks,
      EditorView.updateListener.of((update) => {
        if (update.docChanged && !update.transactions.some((each) => each.annotation(isGiven))) {
          onInput(update.state.doc.toString())
        }
      }),
      ...shownAs(language),
    ],
  })
  return {
    setText(text) {
      const { doc } = view.state
      if (text === doc.toString()) return
      view.dispatch({ changes: { from: 0, to: doc.length, insert: text }, annotations: isGiven.of(true) })
    },
    setFault: (fault) => view.dispatch({ effects: setFault.of(fault) }),
    setAttributes: (given) =>
      view.dispatch({ effects: attributes.reconfigure(EditorView.contentAttributes.of(given)) }),
    jumpToFault() {
      const marked = view.state.field(faultMarks).iter()
      while (marked.value !== null && marked.from === marked.to) marked.next()
      if (marked.value === null) return
      const { from, to } = marked
      view.dispatch({
        selection: { anchor: to, head: from },
        effects: EditorView.scrollIntoView(from, { y: 'center' }),
      })
      view.focus()
    },
    destroy: () => view.destroy(),
  }
}

/** Mounts a read-only comparison of two texts: removed and added lines, with the unchanged ones between them
 *  collapsed. Returns the function that removes it. */
export function createDiff(
  parent: HTMLElement,
  { language, before, after, label }: { language: CodeLanguage; before: string; after: string; label: string },
): () => void {
  adoptStyles()
  const view = new EditorView({
    parent,
    doc: after,
    extensions: [
      lineNumbers(),
      unifiedMergeView({
        original: before,
        mergeControls: false,
        collapseUnchanged: { margin: 3, minSize: 6 },
        diffConfig: { scanLimit: 2_000, timeout: 500 },
      }),
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
      ...shownAs(language),
    ],
  })
  return () => view.destroy()
}

const shownAs = (language: CodeLanguage): Extension[] => [
  highlightSpecialChars(),
  EditorView.lineWrapping,
  LANGUAGES[language](),
  look,
]

const LANGUAGES: Record<CodeLanguage, () => Extension> = {
  html: () => liquid({ base: html() }),
  text: () => liquid({ base: html({ autoCloseTags: false }) }),
  json,
}

const isGiven = Annotation.define<boolean>()
const setFault = StateEffect.define<TextFault | undefined>()
const faultMarks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { changes, effects, state }) {
    const given = effects.findLast((effect) => effect.is(setFault))
    return given === undefined ? marks.map(changes) : marksOf(state.doc, given.value)
  },
  provide: (field) => EditorView.decorations.from(field),
})

function marksOf(doc: Text, fault: TextFault | undefined): DecorationSet {
  if (!fault?.line) return Decoration.none
  const line = doc.line(Math.min(fault.line, doc.lines))
  const from = Math.min(line.to, line.from + (fault.column ?? 1) - 1)
  const whole = Decoration.line({ class: 'cm-fault-line' }).range(line.from)
  return Decoration.set(from < line.to ? [whole, Decoration.mark({ class: 'cm-fault' }).range(from, line.to)] : [whole])
}
