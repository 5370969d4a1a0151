import { MediaQuery } from 'svelte/reactivity'

/** Whether tables have no room: their rows are cards then. */
export const narrow = new MediaQuery('max-width: 860px')
