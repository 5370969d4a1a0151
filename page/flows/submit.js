import { Refusal } from '../backend.js'
import { postError } from '../parent.js'
import { busy } from '../shell.js'
import { seal } from '../submission.js'

/** Errors after which the user may try again on the same screen. */
const mendable = [155112, 155115, 155119, 155120, 155124, 155706]

/** Sends the fields for a purpose. Resolves with the next state, or with the error that the user can mend. */
export async function submit(
  { backend, session },
  purpose,
  fields,
  send = (sealed) => backend.approve(purpose, sealed),
) {
  busy(true)
  try {
    return { state: await send(await seal(session, purpose, fields)) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    postError(error)
    error.isTold = true
    if (!mendable.includes(error.code)) throw error
    return { error }
  }
}

export const requestOf = ({ state }) => ({ type: state.challenge.type, summary: state.summary })
