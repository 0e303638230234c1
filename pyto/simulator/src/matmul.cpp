#include "matmul.h"

namespace pyto_sim {

ThreadTiles::ThreadTiles() {}
ThreadTiles::~ThreadTiles() {}

}  // namespace pyto_sim
