import { useLayoutEffect } from 'preact/hooks'
import { confirm } from './dialog.tsx'
import { guardLeaving } from './router.ts'

/** While something is not saved, nobody leaves the page without being asked; from the first letter on. */
export function useUnsaved(isUnsaved: boolean): void {
  useLayoutEffect(() => {
    if (!isUnsaved) return
    const keep = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', keep)
    const release = guardLeaving(() =>
      confirm({
        name: 'Leave without saving?',
        text: 'What was changed here is lost.',
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
