import { toClipboard } from '../../dashboard/ui/kit/clipboard.ts'
import { store, stored } from './theme.ts'

/** The language that the API reference stores, too. */
const STORED = 'postrider.language'

/** Adds a copy button to each code block. Without this script, the blocks have none. */
export function addCopyButtons(): void {
  for (const pre of document.querySelectorAll('.code-box pre')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'tiny'
    button.textContent = 'Copy'
    button.addEventListener('click', async () => {
      await toClipboard(pre.textContent ?? '')
      button.textContent = 'Copied'
      window.setTimeout(() => {
        button.textContent = 'Copy'
      }, 1_500)
    })
    pre.parentElement?.querySelector('figcaption')?.append(button)
  }
}

/** Adds tabs to each block that is there in several languages. All blocks show the language that was chosen last. */
export function addLanguageTabs(): void {
  const groups = [...document.querySelectorAll<HTMLElement>('.languages')]
  const show = (language: string) => {
    for (const group of groups) choose(group, language)
  }
  groups.forEach((group, number) => {
    const row = document.createElement('div')
    row.className = 'tabs'
    row.role = 'tablist'
    row.ariaLabel = 'Language'
    for (const panel of panelsOf(group)) row.append(tabOf(panel, number, show))
    row.addEventListener('keydown', (event) => moveIn(row, event))
    group.prepend(row)
  })
  show(stored(STORED) ?? '')
}

const panelsOf = (group: HTMLElement) => [...group.querySelectorAll<HTMLElement>(':scope > .language')]

function tabOf(panel: HTMLElement, number: number, show: (language: string) => void): HTMLElement {
  const { language = '', name = '' } = panel.dataset
  const tab = document.createElement('button')
  tab.type = 'button'
  tab.role = 'tab'
  tab.id = `language-${number}-${language}`
  tab.dataset.language = language
  tab.textContent = name
  tab.addEventListener('click', () => {
    store(STORED, language)
    const top = tab.getBoundingClientRect().top
    show(language)
    // Blocks above may have another height now.
    window.scrollBy(0, tab.getBoundingClientRect().top - top)
  })
  panel.role = 'tabpanel'
  panel.setAttribute('aria-labelledby', tab.id)
  return tab
}

/** Shows one language of a group; the first one if it does not have it. */
function choose(group: HTMLElement, language: string): void {
  const panels = panelsOf(group)
  const chosen = panels.find((panel) => panel.dataset.language === language) ?? panels[0]
  for (const panel of panels) panel.hidden = panel !== chosen
  for (const tab of group.querySelectorAll<HTMLElement>('[role=tab]')) {
    const isChosen = tab.dataset.language === chosen?.dataset.language
    tab.ariaSelected = String(isChosen)
    tab.tabIndex = isChosen ? 0 : -1
  }
}

function moveIn(row: HTMLElement, event: KeyboardEvent): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
  if (step === undefined) return
  event.preventDefault()
  const tabs = [...row.querySelectorAll('button')]
  const at = tabs.findIndex((tab) => tab.ariaSelected === 'true')
  const next = tabs[(at + step + tabs.length) % tabs.length]
  next?.click()
  next?.focus()
}
