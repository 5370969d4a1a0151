import { createSubscriber } from 'svelte/reactivity'

const everySecond = createSubscriber((update) => {
  const timer = setInterval(update, 1_000)
  return () => clearInterval(timer)
})

/** The time of the browser, which readers in components see again each second. */
export function nowMs(): number {
  everySecond()
  return Date.now()
}
