import type { ContractRow } from './store.ts'

export const showContract = (row: ContractRow) => ({
  id: row.id,
  name: row.name,
  ...given('description', row.description),
  contractInputType: row.inputType,
  blockchain: row.blockchain,
  archived: row.archived,
  status: row.status,
  verificationStatus: row.verificationStatus,
  ...given('contractAddress', row.contractAddress),
  ...given('deployerWalletID', row.deployerWalletId),
  ...given('deployerAddress', row.deployerAddress),
  ...given('deploymentTransactionId', row.deploymentId),
  ...given('txHash', row.txHash),
  ...given('deploymentErrorReason', row.errorReason),
  ...given('deploymentErrorDetails', row.errorDetails),
  ...given('abiJson', row.abiJson),
  functions: row.functions,
  events: row.events,
  sourceCode: row.sourceCode,
  ...given('bytecode', row.bytecode),
  ...given('metadataLink', row.metadataLink),
  ...given('implementationContract', row.implementation),
  createDate: row.createDate,
  updateDate: row.updateDate,
})

/** A member that is omitted rather than sent as null. */
const given = (name: string, value: unknown) => (value === null ? {} : { [name]: value })
