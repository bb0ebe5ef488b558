/** The theme that the dashboard stores, too. */

const STORED = 'postrider.theme'

/** Applies the stored theme before the page is drawn. */
export function applyTheme(): void {
  const theme = stored(STORED)
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
  else delete document.documentElement.dataset.theme
}

/** Starts the buttons `#theme`. */
export function startThemeSwitch(): void {
  const group = document.getElementById('theme')!
  const buttons = group.querySelectorAll('button')
  const show = () => {
    const theme = document.documentElement.dataset.theme ?? 'auto'
    for (const button of buttons) button.setAttribute('aria-pressed', String(button.value === theme))
  }
  for (const button of buttons) {
    button.addEventListener('click', () => {
      store(STORED, button.value)
      if (button.value === 'auto') delete document.documentElement.dataset.theme
      else document.documentElement.dataset.theme = button.value
      show()
    })
  }
  group.hidden = false
  show()
}

/** A choice that the browser stores; null without one, or if storage is disabled. */
export function stored(name: string): string | null {
  try {
    return window.localStorage.getItem(name)
  } catch {
    return null
  }
}

export function store(name: string, value: string): void {
  try {
    window.localStorage.setItem(name, value)
  } catch {
    // Storage is disabled: the choice ends with the page.
  }
}
