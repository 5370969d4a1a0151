import { findEntity } from '#runtime/auth/store'
import { type Config, readSurroundings } from '#runtime/config'
import { openAsOwner, openDatabase } from '#runtime/db/db'
import { explainDatabase } from '#runtime/db/explain'
import { sandboxEntity } from '#sandbox/credentials'
import { type DoctorCheck, requireDatabase } from '../checks.ts'
import { connectionRules, serverRules } from './database.ts'
import { fileRules } from './files.ts'
import { productionCheckOf } from './rule.ts'
import { settingRules } from './settings.ts'
import { readServerFacts } from './store.ts'

/** The checks of what is harmless on a laptop and unsafe where money is, beside those of every server. */
export async function productionChecks(config: Config): Promise<readonly DoctorCheck[]> {
  const given = productionCheckOf({ config, surroundings: readSurroundings() })
  return [
    ...settingRules.map(given),
    ...fileRules.map(given),
    ...connectionRules.map(productionCheckOf(config)),
    ...(await serverChecks(config)),
    sandboxCredentials,
  ]
}

/** One check says that the server does not tell its state, in place of one for each setting. */
async function serverChecks(config: Config): Promise<readonly DoctorCheck[]> {
  const read = async () => {
    const connection = requireDatabase(config)
    const user = openAsOwner(connection)
    return readServerFacts(user)
      .catch(explainDatabase(connection))
      .finally(() => user.close())
  }
  return read().then(
    (facts) => serverRules.map(productionCheckOf(facts)),
    (error: Error) => [{ name: 'database server', look: () => Promise.reject(error) }],
  )
}

const sandboxCredentials: DoctorCheck = {
  name: 'entity of the sandbox',
  look: async (config) => {
    const open = openDatabase(requireDatabase(config), 1)
    const found = await findEntity(open, sandboxEntity.id).finally(() => open.close())
    if (!found) return 'none'
    throw new Error(
      'the database holds an entity whose keys are public: give production a database of its own',
    )
  },
}
