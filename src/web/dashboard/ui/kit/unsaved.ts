import { useLayoutEffect } from 'preact/hooks'
import { confirm } from './dialog.tsx'
import { guardLeaving } from './router.ts'

/** Asks before the user leaves the page or closes the tab while `isUnsaved`. */
export function useUnsaved(isUnsaved: boolean): void {
  useLayoutEffect(() => {
    if (!isUnsaved) return
    const keep = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', keep)
    const release = guardLeaving(() =>
      confirm({
        name: 'Leave without saving?',
        text: 'Your changes will be lost.',
        action: 'Leave',
        isDangerous: true,
      }),
    )
    return () => {
      window.removeEventListener('beforeunload', keep)
      release()
    }
  }, [isUnsaved])
}
