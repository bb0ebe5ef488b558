import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { StyleModule } from 'style-mod'

/** Colours and sizes of the code editor, and how its styles reach the page. */

const theme = EditorView.theme({
  '&': { height: '100%', fontSize: '12px', color: 'var(--text)', backgroundColor: 'var(--surface)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px' },
  '.cm-content': { padding: '10px 0', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 10px' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { color: 'var(--muted)', backgroundColor: 'var(--sunk)', border: '0' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 8px 0 10px' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'light-dark(#cfe4f7, #264a6b)',
  },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-soft)', outline: '1px solid var(--accent)' },
  '.cm-fault-line': { backgroundColor: 'var(--bad-soft)' },
  '.cm-fault': { textDecoration: 'underline wavy var(--bad)', textUnderlineOffset: '3px' },
  '.cm-panels': { color: 'var(--text)', backgroundColor: 'var(--sunk)', borderColor: 'var(--line)' },
  '.cm-panel.cm-search': { fontFamily: 'var(--font)', padding: '6px 28px 6px 8px' },
  '.cm-panel.cm-search label': { fontSize: '12px' },
  '.cm-textfield, .cm-button': {
    color: 'var(--text)',
    background: 'var(--surface)',
    border: '1px solid var(--strong-line)',
    borderRadius: 'var(--radius)',
    fontSize: '12px',
  },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-soft)', outline: '1px solid var(--warn-line)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--accent-soft)' },
  '.cm-changedLine': { backgroundColor: 'var(--good-soft) !important' },
  '.cm-deletedChunk': { backgroundColor: 'var(--bad-soft) !important', paddingLeft: '10px' },
  '.cm-deletedChunk .cm-deletedText': { background: 'light-dark(#f7c6c2, #6b2a26)' },
  '.cm-changedText': { background: 'light-dark(#b9e2c8, #1f5233) !important' },
  '.cm-collapsedLines': { color: 'var(--muted)', background: 'var(--sunk)', padding: '4px 10px' },
})

const colours = HighlightStyle.define([
  { tag: [tags.tagName, tags.angleBracket], color: 'light-dark(#0b5394, #82b8f2)' },
  { tag: tags.attributeName, color: 'light-dark(#835800, #e3b341)' },
  { tag: [tags.attributeValue, tags.string], color: 'light-dark(#14663a, #6fcf97)' },
  {
    tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.function(tags.variableName)],
    color: 'light-dark(#8b1d6b, #f09ad0)',
  },
  { tag: [tags.variableName, tags.special(tags.variableName), tags.propertyName], color: 'var(--accent)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'light-dark(#6a3ab2, #c3a6ff)' },
  { tag: [tags.comment, tags.documentMeta, tags.processingInstruction], color: 'var(--muted)' },
])

export const look: Extension = [theme, syntaxHighlighting(colours)]

let isAdopted = false

/** Makes CodeMirror's styles a constructed style sheet. It would add them as a `style` element, which the page's
 *  policy forbids; the policy does not concern sheets that a script constructs. */
export function adoptStyles(): void {
  if (isAdopted) return
  isAdopted = true
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets.push(sheet)
  let known: StyleModule[] = []
  StyleModule.mount = (_, given) => {
    const added = [given].flat().filter((each) => !known.includes(each))
    if (added.length === 0) return
    known = [...known, ...added]
    sheet.replaceSync(known.map((each) => each.getRules()).join('\n'))
  }
}
