/** Whether a listener is short of connections. Under stress it waits less for silent clients and bears fewer errors, so that
 *  those who bring mail find a place. Postfix does the same (STRESS_README). */
export interface Stress {
  isOn(): boolean
  /** Call it when a connection came or went. */
  update(connections: number): void
}

/** Part of the connections from which on stress begins, and below which it ends: not the same, or it would begin and end with
 *  every connection. */
const BEGINS_AT = 0.8
const ENDS_AT = 0.6

/** The most connections there may be → no stress. `onChange` is called at each begin and end. */
export function createStress(most: number, onChange: (isOn: boolean) => void): Stress {
  let isOn = false
  return {
    isOn: () => isOn,
    update: (connections) => {
      const next = connections >= most * (isOn ? ENDS_AT : BEGINS_AT)
      if (next === isOn) return
      isOn = next
      onChange(isOn)
    },
  }
}
